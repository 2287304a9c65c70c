"""ALTER TABLE ... DROP and ADD PARTITION, TRUNCATE TABLE ... PARTITION, MSCK REPAIR TABLE.

The partitions of a Hudi table are those of its files: the catalog keeps no list of them, so that there is nothing to repair.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from pyhudi.errors import UnsupportedError, UsageError, with_subject
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spec.actions.commit import Operation
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write.write_target import WriteTarget, open_target


def drop_partitions(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE ... DROP PARTITION; None when the table is not a Hudi table. One commit drops all that are named."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    target = open_target(statement, entry)
    paths = [_path(target, spec, "DROP PARTITION") for spec in jvm.items_of(statement.plan.parts())]
    result = _drop(target, paths, must_exist=not statement.plan.ifExists())
    if statement.plan.purge():
        target.table.services.purge(paths, options=target.options)
    return result


def truncate_partition(statement: Statement) -> DataFrame | None:
    """Run a TRUNCATE TABLE ... PARTITION; None when the table is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    target = open_target(statement, entry)
    return _drop(target, [_path(target, statement.plan.partitionSpec(), "TRUNCATE TABLE ... PARTITION")], must_exist=True)


def add_partitions(statement: Statement) -> DataFrame | None:
    """Check an ALTER TABLE ... ADD PARTITION; None when the table is not a Hudi table. A partition begins with its first row."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    target = open_target(statement, entry)
    existing = set(_partition_paths(target))
    for spec in jvm.items_of(statement.plan.parts()):
        if jvm.value_of(spec.location()) is not None:
            raise UnsupportedError(f"ALTER TABLE {entry.qualified_name} ADD PARTITION ... LOCATION: partitions lie below the table.")
        path = _path(target, spec, "ADD PARTITION")
        if path in existing and not statement.plan.ifNotExists():
            raise UsageError(f"ALTER TABLE {entry.qualified_name} ADD PARTITION: the partition {path} exists already.")
    return statement.empty()


def _drop(target: WriteTarget, paths: list[str], *, must_exist: bool) -> DataFrame:
    existing = set(_partition_paths(target))
    missing = [path for path in paths if path not in existing]
    if missing and must_exist:
        raise UsageError(f"{target.name} has no partition {missing[0]}; SHOW PARTITIONS lists those there are.")
    matches = [path for path in dict.fromkeys(paths) if path in existing]
    if matches:
        target.write_without_rows(Operation.DELETE_PARTITION, matches)
    return target.statement.empty()


def _partition_paths(target: WriteTarget) -> tuple[str, ...]:
    return open_snapshot(target.table.storage, SnapshotQuery()).live_partitions


def _path(target: WriteTarget, spec: JavaObject, what: str) -> str:
    values = _values(spec)
    known = {name.lower() for name in target.partition_columns}
    if not known:
        raise UsageError(f"{what}: {target.name} is not partitioned.")
    if unknown := [name for name in values if name.lower() not in known]:
        problem = f"{what}: {unknown[0]} is no partition column of {target.name}; those are {', '.join(target.partition_columns)}."
        raise with_subject(UsageError(problem), unknown[0])
    path = target.static_partition(values)
    if path is None:
        raise UsageError(f"{what} of {target.name} names all partition columns: {', '.join(target.partition_columns)}.")
    return path


def _values(spec: JavaObject) -> Mapping[str, str | None]:
    return dict(jvm.entries_of(spec.spec()))
