"""The Hudi table that a statement writes: its columns as SQL sees them, its options, the one road into the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from pyhudi.spark.catalog_table import CatalogTable
from pyhudi.spark.relation_cache import catalog_order
from pyhudi.spark.types import spark_schema
from pyhudi.spec import partition_path
from pyhudi.spec.commit import Operation
from pyhudi.sql import settings
from pyhudi.sql.result import result_row
from pyhudi.sql.statement import Statement
from pyhudi.table.table import HudiTable
from pyhudi.table.write import write


@dataclass(frozen=True)
class WriteTarget:
    """A table of the session catalog, opened for one statement."""

    statement: Statement
    entry: CatalogTable
    table: HudiTable

    @property
    def name(self) -> str:
        return self.entry.qualified_name

    @cached_property
    def schema(self) -> StructType:
        """The data columns with their Spark types, partition columns last."""
        found = spark_schema(self.table.schema)
        return StructType([found[name] for name in catalog_order(found.names, self.partition_columns)])

    @property
    def columns(self) -> list[str]:
        return list(self.schema.names)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        return tuple(self.table.config.partition_fields)

    @cached_property
    def options(self) -> Mapping[str, str]:
        """Options of the write: the table's properties, overruled by the session's `SET hoodie...`."""
        return settings.write_options(self.statement.session, self.entry)

    def overwrite_mode(self) -> str:
        """Return `static` or `dynamic`: what INSERT OVERWRITE without a partition replaces."""
        session = self.statement.session.conf.get("spark.sql.sources.partitionOverwriteMode", "STATIC") or "STATIC"
        return self.options.get(settings.OVERWRITE_MODE, session).lower()

    def static_partitions(self, values: Mapping[str, str | None]) -> list[str]:
        """Return the partition paths that `PARTITION (a = 'x', ...)` names: one, or those that exist below a prefix."""
        stated = {name.lower(): value for name, value in values.items()}
        wanted = [stated.get(name.lower()) for name in self.partition_columns]
        config = self.table.config
        if None not in wanted:
            return [partition_path.build(self.partition_columns, wanted, hive_style=config.hive_style, url_encode=config.url_encode)]
        found = self.table.inspect.partitions().column("partition_path").to_pylist()
        return [path for path in found if self._matches(path, wanted)]

    def _matches(self, path: str, wanted: Sequence[str | None]) -> bool:
        config = self.table.config
        values = partition_path.parse(path, self.partition_columns, hive_style=config.hive_style, url_encode=config.url_encode)
        return all(want is None or want == value for want, value in zip(wanted, values, strict=True))

    def write(self, operation: Operation, rows: DataFrame, *, located: bool = False, partitions: Sequence[str] | None = None) -> DataFrame:
        """Write the rows and return the statement's result."""
        result = write(self.table, operation, rows, options=dict(self.options), located=located, partitions=partitions)
        return result_row(self.statement, self.name, result)


def open_target(statement: Statement, entry: CatalogTable) -> WriteTarget:
    """Open the table of a statement for writing.

    Raises:
        TableNotFound: the catalog has an entry but the storage has no table.
    """
    return WriteTarget(statement, entry, HudiTable.open(entry.location))
