"""A database of a Hive metastore that is changed by SQL through a HiveServer2 (modes `jdbc` and `hiveql`).

Rules: `QueryBasedDDLExecutor`, `JDBCExecutor`. As in Apache Hudi, databases, tables, columns and partitions are changed by SQL, so that the
server's rules of access hold; properties are changed, and everything is read, by the metastore. Texts are escaped, which Apache Hudi
does not do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pyhudi.clients.metastore_client import MetastoreClient
from pyhudi.errors import CatalogError
from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry, Values
from pyhudi.sync.hive_entry import EXTERNAL
from pyhudi.sync.hive_metastore import DESCRIPTION, HiveMetastore
from pyhudi.sync.server_client import ServerClient
from pyhudi.sync.sync_settings import TABLE

#: The property with which Hive deletes the files of an external table, too.
_PURGE: Final = "external.table.purge"
_DELETING: Final = ("external", _PURGE)

_Item = TypeVar("_Item")


class HiveServer(HiveMetastore):
    """Implements `pyhudi.sync.catalog_sync.CatalogSync`."""

    def __init__(self, client: MetastoreClient, server: ServerClient, database: str, batch_size: int) -> None:
        """Use a database through connected clients, with so many partitions in one statement at most."""
        super().__init__(client, database, batch_size)
        self._server = server

    def create_database(self) -> None:
        """Create the database."""
        sql = f"CREATE DATABASE IF NOT EXISTS {quoted(self._database)} COMMENT {_text(DESCRIPTION)}"
        self._server.execute(sql, f"creating the database {self._database}")

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        """Create a table: by SQL, and then its properties by the metastore, since Spark's server takes none of Spark's own in SQL."""
        columns = ", ".join(map(_column, entry.columns))
        partitioned = f" PARTITIONED BY ({', '.join(map(_column, entry.partition_columns))})" if entry.partition_columns else ""
        serde = ", ".join(f"{_text(key)}={_text(value)}" for key, value in entry.serde_properties.items())
        formats = f"INPUTFORMAT {_text(entry.input_format)} OUTPUTFORMAT {_text(entry.output_format)}"
        self._server.execute(
            f"CREATE {'' if entry.is_managed else 'EXTERNAL '}TABLE IF NOT EXISTS {self._table_name(name)} ({columns}){partitioned}"
            f" ROW FORMAT SERDE {_text(entry.serde_class)} WITH SERDEPROPERTIES ({serde})"
            f" STORED AS {formats} LOCATION {_text(entry.location)}",
            f"creating the table {self._database}.{name}",
        )
        super().alter_table(name, entry, cascade=False)

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        """Change a table: columns by SQL, formats and properties by the metastore.

        Spark's server takes no list of columns in place of another: there the metastore changes them, too.
        """
        known = self.table(name)
        if known is not None and known.columns != entry.columns:
            sql = f"ALTER TABLE {self._table_name(name)} REPLACE COLUMNS ({', '.join(map(_column, entry.columns))})"
            try:
                self._server.execute(f"{sql} CASCADE" if cascade else sql, f"changing the columns of {self._database}.{name}")
            except CatalogError as error:
                if "spark" not in str(error).lower():
                    raise
        super().alter_table(name, entry, cascade=cascade)

    def drop_table(self, name: str) -> None:
        """Drop a table, not its files: Hive deletes those of a managed table, and of one to purge, so it is made external before."""
        table = self._read(name)
        if table is not None and _loses_files(table):
            self._alter(name, _keep_files)
            if _loses_files(self._required(name)):
                raise CatalogError(
                    f"the table {self._database}.{name} is not dropped: Hive would delete its files with it, and the metastore does not"
                    f" make it an external table. Drop it from the catalog alone, or give {TABLE} another name"
                )
        self._server.execute(f"DROP TABLE IF EXISTS {self._table_name(name)}", f"dropping the table {self._database}.{name}")

    def add_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Add partitions."""
        columns = self._partition_columns(name)
        for batch in self._statements(list(partitions.items())):
            clauses = (f"PARTITION ({_spec(columns, values)}) LOCATION {_text(location)}" for values, location in batch)
            sql = f"ALTER TABLE {self._table_name(name)} ADD IF NOT EXISTS {' '.join(clauses)}"
            self._server.execute(sql, f"adding {len(batch)} partition(s) to {self._database}.{name}")

    def change_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Change the locations of partitions, one statement each."""
        columns = self._partition_columns(name)
        for values, location in partitions.items():
            sql = f"ALTER TABLE {self._table_name(name)} PARTITION ({_spec(columns, values)}) SET LOCATION {_text(location)}"
            self._server.execute(sql, f"changing the partition {list(values)} of {self._database}.{name}")

    def drop_partitions(self, name: str, partitions: Sequence[Values]) -> None:
        """Drop partitions, not their files: by the metastore where the SQL would delete these."""
        if _loses_files(self._required(name)):
            super().drop_partitions(name, partitions)
            return
        columns = self._partition_columns(name)
        for batch in self._statements(partitions):
            clauses = ", ".join(f"PARTITION ({_spec(columns, values)})" for values in batch)
            sql = f"ALTER TABLE {self._table_name(name)} DROP IF EXISTS {clauses}"
            self._server.execute(sql, f"dropping {len(batch)} partition(s) of {self._database}.{name}")

    def close(self) -> None:
        """End both connections."""
        self._server.close()
        super().close()

    def _table_name(self, name: str) -> str:
        return f"{quoted(self._database)}.{quoted(name)}"

    def _partition_columns(self, name: str) -> list[str]:
        return [column.name for column in self._required(name).partitionKeys]

    def _statements(self, items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
        for begin in range(0, len(items), self._batch_size):
            yield items[begin : begin + self._batch_size]


def _loses_files(table: Any) -> bool:
    """Tell whether Hive deletes the files of a table, or of its partitions, when its SQL drops them."""
    purges = any(key.lower() == _PURGE and text.lower() == "true" for key, text in table.parameters.items())
    return purges or table.tableType != EXTERNAL


def _keep_files(table: Any) -> None:
    """Change a table so that Hive leaves its files when it is dropped."""
    table.tableType = EXTERNAL
    retained = {key: text for key, text in table.parameters.items() if key.lower() not in _DELETING}
    table.parameters = {**retained, "EXTERNAL": "TRUE"}


def quoted(name: str) -> str:
    """Return a name as Hive's SQL quotes it."""
    return f"`{name.replace('`', '``')}`"


def _text(text: str) -> str:
    r"""Return a text as a literal of SQL.

    Example:
        >>> print(_text("o'slo"))
        'o\'slo'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _column(column: CatalogColumn) -> str:
    return (
        f"{quoted(column.name)} {column.type} COMMENT {_text(column.comment)}" if column.comment else f"{quoted(column.name)} {column.type}"
    )


def _spec(columns: Sequence[str], values: Values) -> str:
    return ",".join(f"{quoted(name)}={_text(value)}" for name, value in zip(columns, values, strict=True))
