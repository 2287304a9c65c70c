"""The Hudi table that a statement writes: its columns as SQL sees them, its options, the one road into the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from pyhudi.cache import cached_property
from pyhudi.errors import UnsupportedError
from pyhudi.kernels.keys.key_kernels import partition_paths
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.keygen.user import UserKeys
from pyhudi.read.snapshot.cleaned_states import reread_when_deleted
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot, open_snapshot
from pyhudi.spark.catalog import relations
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import catalog_order
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.spark_types import spark_schema
from pyhudi.spark.scan.scan import scan
from pyhudi.spark.writer.frame_write import without_engine
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import merge_options
from pyhudi.spec.visibility import Visibility
from pyhudi.sql.statement import sql_settings as settings
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import quote, text_literal
from pyhudi.sql.write.explain_write import explain_write
from pyhudi.sql.write.statement_result import result_row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_retry import repeated_change
from pyhudi.table.write_table import write
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.write.input.partial_columns import partial_columns


@dataclass(frozen=True)
class WriteTarget:
    """A table of the session catalog, opened for one statement."""

    statement: Statement
    entry: CatalogTable
    table: HudiTable

    @property
    def name(self) -> str:
        """Database and table, as messages name it."""
        return self.entry.qualified_name

    @cached_property
    def snapshot(self) -> Snapshot:
        """The state in which the statement finds the table: of when it is first asked for."""
        return open_snapshot(self.table.storage, SnapshotQuery(), self.table.config)

    @cached_property
    def schema(self) -> StructType:
        """The data columns with their Spark types, partition columns last."""
        fields = spark_schema(self.snapshot.schema)
        return StructType([fields[name] for name in catalog_order(fields.names, self.partition_columns)])

    @property
    def columns(self) -> list[str]:
        """The names of the data columns, partition columns last."""
        return list(self.schema.names)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The partition fields of the table."""
        return tuple(self.table.config.partition_fields)

    @cached_property
    def options(self) -> Mapping[str, str]:
        """Options of the write: the table's properties, overruled by the session's `SET hoodie...`."""
        return settings.served(self._settings)

    @property
    def stated_operation(self) -> str | None:
        """What `hoodie.datasource.write.operation` says there, for statements that add rows."""
        return settings.operation_in(self._settings)

    @cached_property
    def _settings(self) -> Mapping[str, str]:
        return settings.settings_of(self.statement.session, self.entry.properties)

    @property
    def has_virtual_keys(self) -> bool:
        """True when rows have no location columns: keys are computed and looked up again to change them."""
        return not self.table.config.populate_meta_fields

    def partial_columns(self, changed: Iterable[str]) -> tuple[str, ...] | None:
        """Return the columns that updates of `changed` have to bring; None when that is all of them."""
        return partial_columns(self.options, self.table.config, self.snapshot.schema, changed)

    def overwrites_partitions(self, *, names_columns: bool) -> bool:
        """Tell whether INSERT OVERWRITE replaces the partitions of its rows, and not the whole table.

        Hudi's option decides; where it is not stated, PARTITION with names of columns does, or Spark's own setting.
        """
        stated = self.options.get(settings.OVERWRITE_MODE)
        if stated is not None:
            return stated.lower() == "dynamic"
        session = self.statement.session.conf.get("spark.sql.sources.partitionOverwriteMode", "STATIC") or "STATIC"
        return names_columns or session.lower() == "dynamic"

    def static_partition(self, values: Mapping[str, str | None]) -> str | None:
        """Return the partition path that `PARTITION (a = 'x', ...)` names; None when the rows choose a part of it.

        Raises:
            UnsupportedError: the table's paths are not made of its partition columns.
            KeyFieldError: the values make no path.
        """
        stated = {name.lower(): value for name, value in values.items()}
        partition_values = [stated.get(name.lower()) for name in self.partition_columns]
        if None in partition_values:
            return None
        now = format_instant(self.table.clock.now(), zone_of(self.table.config.timeline_zone))
        generator = key_generator(self.table.config, instant=now)
        if isinstance(generator, UserKeys):
            raise UnsupportedError(f"{self.name} has a key generator of its own: its partitions cannot be named by values; name none.")
        typed = (
            f"CAST({text_literal(value or '')} AS {self.schema[name].dataType.simpleString()}) AS {quote(name)}"
            for name, value in zip(self.partition_columns, partition_values, strict=True)
        )
        row = self.statement.spark_sql(f"SELECT {', '.join(typed)}").toArrow()
        return str(partition_paths(row, generator.layout)[0].as_py())

    def write(
        self,
        operation: Operation,
        rows: DataFrame | pa.Table,
        *,
        prepped: bool = False,
        partitions: Sequence[str] | None = None,
        read_snapshot: Visibility | None = None,
        columns: Sequence[str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> DataFrame:
        """Write the rows and return the statement's result; arguments as in `pyhudi.table.write_table.write`, `options` overrule the
        table's.

        A statement to be explained writes nothing, its result is the explanation.
        """
        chosen = merge_options(self.options, options or {})
        if isinstance(rows, pa.Table):
            chosen = without_engine(chosen)
        elif self.statement.explain is not None:
            return explain_write(self.statement, self.snapshot, operation, rows, chosen, partitions=partitions, columns=columns)
        result = write(
            self.table,
            operation,
            rows,
            options=chosen,
            prepped=prepped,
            partitions=partitions,
            read_snapshot=read_snapshot,
            columns=columns,
        )
        return result_row(self.statement, self.name, result)

    def write_without_rows(self, operation: Operation, partitions: Sequence[str]) -> DataFrame:
        """Replace or delete partitions and return the statement's result."""
        result = write(self.table, operation, None, options=dict(self.options), partitions=partitions)
        return result_row(self.statement, self.name, result)


def change_rows(statement: Statement, relation: JavaObject, change: Callable[[WriteTarget, Visibility], DataFrame]) -> DataFrame | None:
    """Run a statement that changes stored rows, and run it again, on what the table holds then, when another write was faster, as often as
    the options say, and when files were cleaned before it had read them; None when the table is not a Hudi table.

    Args:
        statement: an UPDATE, DELETE or MERGE.
        relation: the part of its plan that names the table.
        change: reads the rows and writes them.

    Raises:
        WriteConflictError: others were faster each time.
    """
    first = open_for_change(statement, relation)
    if first is None:
        return None
    states = [first]

    def attempt() -> DataFrame:
        state = states.pop() if states else open_for_change(statement, relation)
        assert state is not None, "it was a Hudi table before"
        return change(*state)

    return repeated_change(reread_when_deleted(attempt), without_engine(first[0].options))


def open_for_change(statement: Statement, relation: JavaObject) -> tuple[WriteTarget, Visibility] | None:
    """Open the table whose stored rows a statement changes; None when the table is not a Hudi table.

    Also returned are the commits that the statement's query sees at least, and the tables that it names are brought up to date.

    Args:
        statement: an UPDATE, DELETE or MERGE.
        relation: the part of its plan that names the table.

    Raises:
        TableNotFound: the catalog has an entry but the storage has no table.
    """
    entry = statement.hudi_table(relation)
    if entry is None:
        return None
    target = open_target(statement, entry)
    read_snapshot = target.snapshot.timeline.visibility  # before the statement's query reads rows, so that it sees no less
    relations.refresh_all(statement.session, statement.names(), target.snapshot)
    statement.show_target(next(statement.names_of(relation)), lambda: scan(statement.session, target.snapshot))
    return target, read_snapshot


def open_target(statement: Statement, entry: CatalogTable) -> WriteTarget:
    """Open the table of a statement for writing.

    Raises:
        TableNotFound: the catalog has an entry but the storage has no table.
    """
    return WriteTarget(statement, entry, HudiTable.open(entry.location))
