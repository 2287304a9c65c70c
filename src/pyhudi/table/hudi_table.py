"""`HudiTable`: the one door to a table. It holds no rows and no listing; every call looks at the storage again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Never

import pyarrow as pa

from pyhudi.locks.choose_lock import open_table_storage
from pyhudi.spec.options import merge_options, resolve
from pyhudi.storage.defaults_file import default_table_options
from pyhudi.table.bootstrap.bootstrap_table import Bootstrap, NewTable, bootstrap_table
from pyhudi.table.create_new_table import ARGUMENTS, TABLE_TYPE, create_table
from pyhudi.table.inspect.inspect_table import Inspect
from pyhudi.table.methods.manage_methods import ManageMethods
from pyhudi.table.scan.other_names import COLUMNS, OF_TABLE, ROWS, missing
from pyhudi.timeline.clock import SystemClock

Options = Mapping[str, str]


class HudiTable(ManageMethods):
    """A Hudi table: reads, writes, history, inspection, services.

    Example:
        >>> import pyarrow as pa
        >>> table = HudiTable.create("memory://doc", pa.schema({"id": pa.int64(), "name": pa.string()}), name="doc", keys=["id"])
        >>> table.upsert([{"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}]).inserted
        2
        >>> table.to_arrow(columns=["name"]).to_pydict()
        {'name': ['ann', 'bob']}
    """

    @classmethod
    def open(cls, path: str | PathLike[str], storage_options: Options | None = None) -> HudiTable:
        """Open the table at a path or URI.

        Args:
            path: a local path, or a URI such as `file:///data/trips` or `s3://bucket/trips` (with the extra `object-store`).
            storage_options: options of the file system that fsspec makes for the URI, such as credentials, and those of the lock provider
                (`hoodie.write.lock.*`) under which all operations on this table are to write.

        Raises:
            TableNotFound: there is no table.
            StorageError: the storage does not answer, or needs a package that is not installed.
            CorruptTableError: the table's properties are damaged.
            UnsupportedError: it has a version or a feature that is not served.

        Example:
            >>> _ = HudiTable.create(f"{folder}/trips", pa.schema({"id": pa.int64()}), name="trips", keys=["id"])
            >>> HudiTable.open(f"{folder}/trips").count()
            0
        """
        return cls(open_table_storage(path, storage_options))

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        schema: pa.Schema,
        *,
        name: str,
        keys: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        order_by: Sequence[str] = (),
        table_type: str | None = None,
        options: Options | None = None,
        storage_options: Options | None = None,
    ) -> HudiTable:
        """Create a table.

        Args:
            path: a path or URI as in `open`; a folder there is empty or does not exist.
            schema: its data columns.
            name: its name.
            keys: record key fields; without any, keys are generated, and rows that are changed have to bring their meta columns.
            partition_by: partition fields.
            order_by: ordering fields: of two records with one key the one with the greater value is stored.
            table_type: `COPY_ON_WRITE`, or `MERGE_ON_READ`, whose updates go to log files; by default what `hudi-defaults.conf` says, else
                the first.
            options: `hoodie.*` options.
            storage_options: options of the storage, as in `open`.

        Returns:
            The table, open.

        Raises:
            TableExists: the path holds a table, or files that are not of one.
            UsageError: schema, fields or options are wrong; nothing was written.
            UnsupportedError: this release cannot write such a table.

        Example:
            >>> schema = pa.schema({"id": pa.int64(), "city": pa.string(), "ts": pa.int64()})
            >>> HudiTable.create(f"{folder}/t", schema, name="t", keys=["id"], partition_by=["city"], order_by=["ts"]).schema.names
            ['id', 'city', 'ts']
        """
        storage = open_table_storage(path, storage_options)
        create_table(
            storage,
            schema,
            name=name,
            keys=keys,
            partition_by=partition_by,
            order_by=order_by,
            table_type=table_type or resolve(default_table_options()).text(TABLE_TYPE),
            options=merge_options(default_table_options(*ARGUMENTS), options or {}),
            clock=SystemClock(),
        )
        return cls(storage)

    @classmethod
    def bootstrap(
        cls,
        path: str | PathLike[str],
        source: str | PathLike[str] | None = None,
        *,
        name: str,
        keys: Sequence[str],
        partition_by: Sequence[str] = (),
        order_by: Sequence[str] = (),
        table_type: str | None = None,
        options: Options | None = None,
        storage_options: Options | None = None,
    ) -> HudiTable:
        """Create a table of the Parquet files of a folder; their data stay where they are, or are copied.

        Args:
            path: where the table is to be, as in `create`.
            source: the folder of the files, whose folders are the partitions; by default what `hoodie.bootstrap.base.path` says.
            name: as in `create`.
            keys: record key fields.
            partition_by: as in `create`.
            order_by: as in `create`.
            table_type: as in `create`.
            options: `hoodie.*` options; those of `hoodie.bootstrap.*` say which partitions are copied and how folders become partitions.
            storage_options: options of the storage, as in `open`; on object stores those of the source, too.

        Returns:
            The table, open. The source files must stay as they are: a query that meets one which has changed says so.

        Raises:
            TableExists: the path holds a table that is no interrupted bootstrap of the same source, or files that are not of one.
            UsageError: the source is no folder of Parquet files, a folder is not the partition of its rows, or an option is wrong.
            CorruptTableError: a source file is damaged.
            UnsupportedError: this release cannot write such a table.

        Example:
            >>> import os, pyarrow.parquet as pq
            >>> os.makedirs(f"{folder}/plain/oslo")
            >>> pq.write_table(pa.table({"id": [1, 2], "city": ["oslo", "oslo"]}), f"{folder}/plain/oslo/a.parquet")
            >>> trips = HudiTable.bootstrap(f"{folder}/b", f"{folder}/plain", name="trips", keys=["id"], partition_by=["city"])
            >>> trips.to_arrow(columns=["_hoodie_commit_time", "id"]).to_pydict()
            {'_hoodie_commit_time': ['00000000000001', '00000000000001'], 'id': [1, 2]}
        """
        table_type = table_type or resolve(default_table_options()).text(TABLE_TYPE)
        stated = merge_options(default_table_options(*ARGUMENTS), options or {})
        definition = NewTable(name, tuple(keys), tuple(partition_by), tuple(order_by), table_type, stated)
        storage = open_table_storage(path, storage_options)
        bootstrap_table(storage, Bootstrap.of(None if source is None else fspath(source), definition), SystemClock(), lambda: cls(storage))
        return cls(storage)

    def __repr__(self) -> str:
        return f"HudiTable({self.storage.uri!r})"

    if not TYPE_CHECKING:  # what a type checker reports by itself

        def __getattr__(self, name: str) -> Never:
            raise missing(self, OF_TABLE, name)

        def __getitem__(self, key: object) -> Never:
            raise TypeError(f"a HudiTable has no items such as [{key!r:.100}]: {COLUMNS}")

        def __iter__(self) -> Never:
            raise TypeError(f"a HudiTable cannot be iterated: {ROWS}; to_pandas() and to_polars() return data frames")

        def __enter__(self) -> Never:
            raise TypeError("a HudiTable is no context manager: nothing is held open, and each call is a transaction of its own")

        def __exit__(self, *_: object) -> None:
            """Needed for `__enter__` to be called."""

    @property
    def inspect(self) -> Inspect:
        """Partitions, file slices, files, statistics and damage as Arrow tables.

        Example:
            >>> table.inspect.partitions().column_names
            ['partition_path', 'file_groups', 'files', 'bytes']
        """
        return Inspect(self.storage, self)
