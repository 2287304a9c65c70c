"""A database of a Hive metastore (mode `hms`). Rules: `HMSDDLExecutor`, `HoodieHiveSyncClient`.

A metastore has no way to change a table only if nobody else changed it meanwhile, though its database notices some of that and fails. So
each change begins with reading what it changes, and is repeated when it fails so. Changes of two processes at a time then differ in a few
milliseconds only; what is lost there, the next sync repairs, since the times of the last commit are part of the same table.
"""

from __future__ import annotations

import contextlib
import copy
import getpass
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pyhudi.clients.metastore_client import CONNECTIONS, MetastoreClient, map_batches
from pyhudi.errors import CatalogError
from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry, Values
from pyhudi.sync.hive_entry import EXTERNAL, MANAGED, entry_of, partition_name
from pyhudi.sync.partition_values import EXTRACTOR_CLASS

#: So many partitions are worth a connection.
_SMALL_BATCH: Final = 100
#: The metastore shall not list the files of the table to count them.
_NO_STATISTICS: Final = {"DO_NOT_UPDATE_STATS": "true"}
#: Serde properties of a table that say nothing of a partition: two are Spark's, which reads them from the table. A metastore stores each
#: property of a partition as a row of its own, after looking whether it is there, and needs a quarter less time without these.
_OF_TABLE: Final = frozenset({"path", "hoodie.query.as.ro.table", "serialization.format"})
#: The most characters of a partition value that the tables of a metastore's database have room for.
_MOST_CHARACTERS: Final = 256
DESCRIPTION: Final = "automatically created by hoodie"

_Item = TypeVar("_Item")


class HiveMetastore:
    """Implements `pyhudi.sync.catalog_sync.CatalogSync`."""

    def __init__(self, client: MetastoreClient, database: str, batch_size: int) -> None:
        """Use a database through a connected client, with so many partitions in one call at most."""
        self._client = client
        self._calls = client.calls
        self._types = client.types
        self._database = database
        self._batch_size = batch_size

    def has_database(self) -> bool:
        """Tell whether the database exists."""

        def look() -> bool:
            try:
                self._calls.get_database(self._database)
            except self._types.NoSuchObjectException:
                return False
            return True

        return self._client.repeat(f"looking for the database {self._database}", look)

    def create_database(self) -> None:
        """Create the database."""
        database = self._types.Database(name=self._database, description=DESCRIPTION, parameters={})

        def create() -> None:
            with contextlib.suppress(self._types.AlreadyExistsException):
                self._calls.create_database(database)

        self._client.repeat(f"creating the database {self._database}", create)

    def table(self, name: str) -> CatalogEntry | None:
        """Return a table."""
        table = self._read(name)
        return None if table is None else entry_of(table)

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        """Create a table."""
        parameters = dict(entry.properties) | ({} if entry.is_managed else {"EXTERNAL": "TRUE"})
        table = self._types.Table(
            tableName=name,
            dbName=self._database,
            owner=getpass.getuser(),
            retention=0,
            parameters=parameters,
            tableType=MANAGED if entry.is_managed else EXTERNAL,
            sd=self._types.StorageDescriptor(
                numBuckets=0,
                bucketCols=[],
                sortCols=[],
                compressed=False,
                parameters={},
                serdeInfo=self._types.SerDeInfo(parameters={}),
                location=entry.location,
            ),
        )
        self._describe(table, entry)
        create = self._calls.create_table_with_environment_context
        self._client.repeat(f"creating the table {self._database}.{name}", lambda: create(table, self._context()))

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        """Change a table."""

        def describe(table: Any) -> None:
            self._describe(table, entry)
            table.parameters = {**table.parameters, **entry.properties}

        self._alter(name, describe, cascade=cascade)

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        """Add properties to a table."""

        def add(table: Any) -> None:
            table.parameters = {**table.parameters, **properties}

        self._alter(name, add)

    def drop_table(self, name: str) -> None:
        """Drop a table, not its files."""

        def drop() -> None:
            with contextlib.suppress(self._types.NoSuchObjectException):
                self._calls.drop_table(self._database, name, False)

        self._client.repeat(f"dropping the table {self._database}.{name}", drop)

    def partitions(self, name: str, among: Collection[Values] | None = None) -> dict[Values, str]:
        """Return the locations of partitions."""
        table = self._required(name)
        return {tuple(one.values): one.sd.location for one in self._partitions(table, among)}

    def add_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Add partitions."""
        _check_lengths(partitions)
        table = self._required(name)
        serde = copy.copy(table.sd.serdeInfo)
        serde.parameters = {key: text for key, text in (serde.parameters or {}).items() if key not in _OF_TABLE}

        def add(client: MetastoreClient, batch: Sequence[tuple[Values, str]]) -> None:
            made = [self._partition(table, serde, values, location) for values, location in batch]
            request = self._types.AddPartitionsRequest(self._database, name, made, ifNotExists=True, needResult=False)
            action = f"adding {len(made)} partition(s) to {self._database}.{name}"
            client.repeat(action, lambda: client.calls.add_partitions_req(request))

        map_batches(self._client, add, self._batches(list(partitions.items())))

    def change_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Change the locations of partitions."""
        table = self._required(name)

        def change(client: MetastoreClient, batch: Sequence[Values]) -> None:
            def attempt() -> None:
                changed = self._named(client, table, [partition_name(table, values) for values in batch])
                for partition in changed:
                    partition.sd.location = partitions[tuple(partition.values)]
                    partition.parameters = {key: text for key, text in partition.parameters.items() if key != "transient_lastDdlTime"}
                if changed:
                    client.calls.alter_partitions_with_environment_context(self._database, name, changed, self._context())

            client.repeat(f"changing {len(batch)} partition(s) of {self._database}.{name}", attempt)

        map_batches(self._client, change, self._batches(list(partitions)))

    def drop_partitions(self, name: str, partitions: Sequence[Values]) -> None:
        """Drop partitions, not their files."""
        table = self._required(name)

        def drop(batch: Sequence[Values]) -> None:
            """Those that another process has dropped meanwhile are passed over by `ifExists`, also when this is repeated."""
            request = self._types.DropPartitionsRequest(
                self._database,
                name,
                self._types.RequestPartsSpec(names=[partition_name(table, values) for values in batch]),
                deleteData=False,
                ifExists=True,
                needResult=False,
            )
            action = f"dropping {len(batch)} partition(s) of {self._database}.{name}"
            self._client.repeat(action, lambda: self._calls.drop_partitions_req(request))

        for begin in range(0, len(partitions), _SMALL_BATCH):  # one at a time: drops wait for each other's locks until they fail
            drop(partitions[begin : begin + _SMALL_BATCH])

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def _read(self, name: str) -> Any | None:
        def read() -> Any | None:
            try:
                return self._calls.get_table(self._database, name)
            except self._types.NoSuchObjectException:
                return None

        return self._client.repeat(f"reading the table {self._database}.{name}", read)

    def _required(self, name: str) -> Any:
        return self._client.repeat(f"reading the table {self._database}.{name}", lambda: self._calls.get_table(self._database, name))

    def _alter(self, name: str, change: Callable[[Any], None], *, cascade: bool = False) -> None:
        """Read a table and write it with a change."""
        context = self._context({"CASCADE": "true"} if cascade else {})

        def attempt() -> None:
            table = self._calls.get_table(self._database, name)
            change(table)
            table.parameters.pop("transient_lastDdlTime", None)
            self._calls.alter_table_with_environment_context(self._database, name, table, context)

        self._client.repeat(f"changing the table {self._database}.{name}", attempt)

    def _describe(self, table: Any, entry: CatalogEntry) -> None:
        storage = table.sd
        table.partitionKeys = self._fields(entry.partition_columns)
        storage.cols = self._fields(entry.columns)
        storage.inputFormat, storage.outputFormat = entry.input_format, entry.output_format
        storage.serdeInfo.serializationLib = entry.serde_class
        storage.serdeInfo.parameters = dict(entry.serde_properties)

    def _fields(self, columns: Sequence[CatalogColumn]) -> list[Any]:
        return [self._types.FieldSchema(column.name, column.type, column.comment) for column in columns]

    def _partition(self, table: Any, serde: Any, values: Values, location: str) -> Any:
        storage = copy.copy(table.sd)  # a copy each: a shared one would give every partition the last location
        storage.location, storage.serdeInfo = location, serde
        return self._types.Partition(list(values), self._database, table.tableName, sd=storage, parameters={})

    def _partitions(self, table: Any, among: Collection[Values] | None) -> Iterator[Any]:
        action = f"reading partitions of {self._database}.{table.tableName}"

        def read(client: MetastoreClient, names: Sequence[str]) -> Sequence[Any]:
            return client.repeat(action, lambda: self._named(client, table, names))

        if among is None:
            names = self._client.repeat(action, lambda: self._calls.get_partition_names(self._database, table.tableName, -1))
        else:
            names = [partition_name(table, values) for values in among]
        return itertools.chain.from_iterable(map_batches(self._client, read, self._batches(names)))

    def _named(self, client: MetastoreClient, table: Any, names: Sequence[str]) -> Sequence[Any]:
        partitions: Sequence[Any] = client.calls.get_partitions_by_names(self._database, table.tableName, list(names))
        return partitions

    def _batches(self, items: Sequence[_Item]) -> list[Sequence[_Item]]:
        size = min(self._batch_size, max(_SMALL_BATCH, -(-len(items) // CONNECTIONS)))
        return [items[begin : begin + size] for begin in range(0, len(items), size)]

    def _context(self, properties: Mapping[str, str] | None = None) -> Any:
        return self._types.EnvironmentContext({**_NO_STATISTICS, **(properties or {})})


def _check_lengths(partitions: Iterable[Values]) -> None:
    """Refuse values that are too long: a metastore tries for minutes to store them, and then says nothing of them.

    Raises:
        CatalogError: one is too long.
    """
    value = max((value for values in partitions for value in values), key=len, default="")
    if len(value) > _MOST_CHARACTERS:
        raise CatalogError(
            f"the partition value '{value[:20]}...' has {len(value)} characters, and Hive metastores take {_MOST_CHARACTERS} at most:"
            f" {EXTRACTOR_CLASS} can name a class that makes shorter ones"
        )
