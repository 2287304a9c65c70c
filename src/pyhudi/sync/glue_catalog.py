"""A database of AWS Glue. Rules: `AWSGlueCatalogSyncClient`.

Glue keeps the columns of each partition apart, as a Hive metastore does, and has no way to change them together with those of the table: a
change of columns rewrites the partitions a hundred at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pyhudi.errors import CatalogError
from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry, Values
from pyhudi.sync.glue_client import GlueClient

#: What Glue takes in one request.
_MOST_READ: Final = 1000
_MOST_WRITTEN: Final = 100
_MOST_DELETED: Final = 25
_MISSING: Final = "EntityNotFoundException"
_EXISTS: Final = "AlreadyExistsException"
#: What a description of a table holds that a change of it may not name.
_INPUT_FIELDS: Final = frozenset(
    {
        *("Name", "Description", "Owner", "LastAccessTime", "LastAnalyzedTime", "Retention", "StorageDescriptor", "PartitionKeys"),
        *("ViewOriginalText", "ViewExpandedText", "TableType", "Parameters", "TargetTable"),
    }
)
_DESCRIPTION: Final = "automatically created by hoodie"

_Item = TypeVar("_Item")


class GlueCatalog:
    """Implements `pyhudi.sync.catalog_sync.CatalogSync`."""

    def __init__(self, client: GlueClient, database: str, *, skip_archive: bool) -> None:
        """Use a database through a client; `skip_archive` keeps no older versions of a table that is changed."""
        self._client = client
        self._database = database
        self._skip_archive = skip_archive

    def has_database(self) -> bool:
        """Tell whether the database exists."""
        answer = self._client.call("get_database", f"looking for the database {self._database}", (_MISSING,), Name=self._database)
        return answer is not None

    def create_database(self) -> None:
        """Create the database."""
        definition = {"Name": self._database, "Description": _DESCRIPTION}
        self._client.call("create_database", f"creating the database {self._database}", (_EXISTS,), DatabaseInput=definition)

    def table(self, name: str) -> CatalogEntry | None:
        """Return a table."""
        table = self._read(name)
        return None if table is None else _entry(table)

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        """Create a table."""
        parameters = dict(entry.properties) | ({} if entry.is_managed else {"EXTERNAL": "TRUE"})
        definition = {
            "Name": name,
            "Retention": 0,
            "TableType": "MANAGED_TABLE" if entry.is_managed else "EXTERNAL_TABLE",
            "PartitionKeys": _columns(entry.partition_columns),
            "Parameters": parameters,
            "StorageDescriptor": _storage(entry) | {"Location": _location(entry.location)},
        }
        self._client.call("create_table", f"creating the table {self._database}.{name}", DatabaseName=self._database, TableInput=definition)

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        """Change a table."""

        def describe(table: dict[str, Any]) -> None:
            table["StorageDescriptor"] = {**table["StorageDescriptor"], **_storage(entry)}
            table["PartitionKeys"] = _columns(entry.partition_columns)
            table["Parameters"] = {**table.get("Parameters", {}), **entry.properties}

        self._update(name, describe)
        if cascade:
            self.change_partitions(name, self.partitions(name))

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        """Add properties to a table."""

        def add(table: dict[str, Any]) -> None:
            table["Parameters"] = {**table.get("Parameters", {}), **properties}

        self._update(name, add)

    def drop_table(self, name: str) -> None:
        """Drop a table, not its files."""
        self._client.call(
            "delete_table", f"dropping the table {self._database}.{name}", (_MISSING,), DatabaseName=self._database, Name=name
        )

    def partitions(self, name: str, among: Collection[Values] | None = None) -> dict[Values, str]:
        """Return the locations of partitions."""
        action = f"reading partitions of {self._database}.{name}"
        of_table = {"DatabaseName": self._database, "TableName": name}
        if among is None:
            pages = self._client.pages("get_partitions", action, "Partitions", **of_table, ExcludeColumnSchema=True)
            return {tuple(one["Values"]): one["StorageDescriptor"]["Location"] for one in pages}
        result: dict[Values, str] = {}
        for batch in _batches(list(among), _MOST_READ):
            keys: list[Any] = [{"Values": list(values)} for values in batch]
            while keys:
                answer = self._client.call("batch_get_partition", action, **of_table, PartitionsToGet=keys)
                result |= {tuple(one["Values"]): one["StorageDescriptor"]["Location"] for one in answer["Partitions"]}
                keys = answer.get("UnprocessedKeys", [])
        return result

    def add_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Add partitions."""
        inputs = self._inputs(name, partitions)
        for batch in _batches(inputs, _MOST_WRITTEN):
            self._batch("batch_create_partition", f"adding {len(batch)} partition(s) to", name, _EXISTS, PartitionInputList=batch)

    def change_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Change the locations of partitions."""
        entries = [{"PartitionValueList": one["Values"], "PartitionInput": one} for one in self._inputs(name, partitions)]
        for batch in _batches(entries, _MOST_WRITTEN):
            self._batch("batch_update_partition", f"changing {len(batch)} partition(s) of", name, "", Entries=batch)

    def drop_partitions(self, name: str, partitions: Sequence[Values]) -> None:
        """Drop partitions, not their files."""
        for batch in _batches(partitions, _MOST_DELETED):
            values = [{"Values": list(one)} for one in batch]
            self._batch("batch_delete_partition", f"dropping {len(batch)} partition(s) of", name, _MISSING, PartitionsToDelete=values)

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _read(self, name: str) -> dict[str, Any] | None:
        answer = self._client.call(
            "get_table", f"reading the table {self._database}.{name}", (_MISSING,), DatabaseName=self._database, Name=name
        )
        return None if answer is None else dict(answer["Table"])

    def _required(self, name: str) -> dict[str, Any]:
        table = self._read(name)
        if table is None:
            raise CatalogError(f"the table {self._database}.{name} of AWS Glue is no longer there; synchronise again")
        return table

    def _update(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Read a table and write it with a change."""

        def attempt() -> None:
            table = self._required(name)
            change(table)
            definition = {key: value for key, value in table.items() if key in _INPUT_FIELDS}
            self._client.send(
                "update_table",
                f"changing the table {self._database}.{name}",
                DatabaseName=self._database,
                TableInput=definition,
                SkipArchive=self._skip_archive,
            )

        self._client.repeat(attempt)

    def _inputs(self, name: str, partitions: Mapping[Values, str]) -> list[dict[str, Any]]:
        storage = self._required(name)["StorageDescriptor"]
        storages = ((values, {**storage, "Location": _location(location)}) for values, location in partitions.items())
        return [{"Values": list(values), "StorageDescriptor": one} for values, one in storages]

    def _batch(self, method: str, action: str, name: str, harmless: str, **request: Any) -> None:
        """Run a request for several partitions; each may fail alone."""
        what = f"{action} {self._database}.{name}"

        def attempt() -> None:
            answer = self._client.send(method, what, DatabaseName=self._database, TableName=name, **request)
            details = [error.get("ErrorDetail", {}) for error in answer.get("Errors", [])]
            refused = [one for one in details if one.get("ErrorCode") != harmless]
            if refused:
                raise CatalogError(f"AWS Glue refused {what}: {refused[0].get('ErrorCode')}: {refused[0].get('ErrorMessage')}")

        self._client.repeat(attempt)


def _storage(entry: CatalogEntry) -> dict[str, Any]:
    serde = {"SerializationLibrary": entry.serde_class, "Parameters": dict(entry.serde_properties)}
    formats = {"InputFormat": entry.input_format, "OutputFormat": entry.output_format}
    return {"Columns": _columns(entry.columns), **formats, "SerdeInfo": serde}


def _columns(columns: Sequence[CatalogColumn]) -> list[dict[str, str]]:
    return [{"Name": one.name, "Type": one.type, **({"Comment": one.comment} if one.comment else {})} for one in columns]


def _entry(table: Mapping[str, Any]) -> CatalogEntry:
    storage = table.get("StorageDescriptor", {})
    serde = storage.get("SerdeInfo", {})
    return CatalogEntry(
        columns=_read_columns(storage.get("Columns", ())),
        partition_columns=_read_columns(table.get("PartitionKeys", ())),
        location=storage.get("Location", ""),
        input_format=storage.get("InputFormat", ""),
        output_format=storage.get("OutputFormat", ""),
        serde_class=serde.get("SerializationLibrary", ""),
        serde_properties=dict(serde.get("Parameters", {})),
        properties=dict(table.get("Parameters", {})),
        is_managed=table.get("TableType") == "MANAGED_TABLE",
        is_view=table.get("TableType") == "VIRTUAL_VIEW",
    )


def _read_columns(columns: Sequence[Mapping[str, str]]) -> tuple[CatalogColumn, ...]:
    return tuple(CatalogColumn(one["Name"], one.get("Type", ""), one.get("Comment", "")) for one in columns)


def _location(location: str) -> str:
    """Return a location as AWS engines know it."""
    return location.replace("s3a://", "s3://", 1) if location.startswith("s3a://") else location


def _batches(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
