"""SHOW PARTITIONS: from the table itself, since the session catalog holds no partitions of a Hudi table."""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.errors import UsageError, with_subject
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.jvm import jvm
from pyhudi.spec.files import partition_path
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import text_literal
from pyhudi.storage.open_storage import open_storage


def show_partitions(statement: Statement) -> DataFrame | None:
    """Run a SHOW PARTITIONS on a Hudi table; None when the name is not a Hudi table.

    Slash-separated dates are shown as `column=yyyy-MM-dd`, all others by their paths.
    """
    entry = statement.hudi_table()
    if entry is None:
        return None
    snapshot = open_snapshot(open_storage(entry.location), SnapshotQuery())
    config = snapshot.config
    fields = config.partition_fields
    if not fields:
        raise UsageError(f"SHOW PARTITIONS: {entry.qualified_name} is not partitioned.")
    spec = _partition_spec(statement)
    if unknown := [column for column in spec if column not in {field.lower() for field in fields}]:
        problem = f"SHOW PARTITIONS: {unknown[0]} is no partition column of {entry.qualified_name}; those are {', '.join(fields)}."
        raise with_subject(UsageError(problem), unknown[0])
    rows = []
    for path in snapshot.live_partitions:
        values = config.partition_values(path)
        if all(spec.get(field.lower(), value) == value for field, value in zip(fields, values, strict=True)):
            path_text = partition_path.build(fields, values, hive_style=True, url_encode=False) if config.slash_dates else path
            rows.append([text_literal(path_text)])
    return statement.rows(["partition"], sorted(rows)) if rows else statement.spark_sql("SELECT '' AS partition WHERE false")


def _partition_spec(statement: Statement) -> dict[str, str]:
    spec = jvm.value_of(statement.plan.pattern())
    return {} if spec is None else {key.lower(): value for key, value in jvm.entries_of(spec.spec()).items()}
