"""`HudiTable`: the one door to a table. It holds no rows and no listing; every call looks at the storage again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UsageError
from pyhudi.read.execute import count_rows, read_batches, read_table
from pyhudi.read.snapshot.query_type import QueryType, SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import merge_options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_readable
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.defaults_file import default_table_options, default_write_options
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.create_new_table import ARGUMENTS, TABLE_TYPE, create_table
from pyhudi.table.history_table import history
from pyhudi.table.inspect.inspect_table import Inspect
from pyhudi.table.read_table import ChangesFormat, changes, selection
from pyhudi.table.table_services import Services
from pyhudi.table.write_table import write
from pyhudi.timeline.clock import Clock, SystemClock
from pyhudi.txn.ids import Ids, SystemIds
from pyhudi.write.options.validate_options import check_operation
from pyhudi.write.write_result import WriteResult

Options = Mapping[str, str]


class HudiTable:
    """A Hudi table: reads, writes, history, inspection, services.

    Example:
        >>> import pyarrow as pa
        >>> table = HudiTable.create("memory://doc", pa.schema({"id": pa.int64(), "name": pa.string()}), name="doc", keys=["id"])
        >>> table.upsert([{"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}]).inserted
        2
        >>> table.to_arrow(columns=["name"]).to_pydict()
        {'name': ['ann', 'bob']}
    """

    def __init__(self, storage: Storage, *, clock: Clock | None = None, ids: Ids | None = None, engine: Engine | None = None) -> None:
        """Open the table on a storage; `open` is the usual way.

        Args:
            storage: where the table is, as `pyhudi.storage.open_storage.open_storage` gives it.
            clock: tells the time of commits, for tests; the clock of this machine by default.
            ids: makes ids of files, for tests; random ones by default.
            engine: runs the tasks of writes; threads of this process by default.

        Raises:
            UsageError: `storage` is not a storage but, say, a path.
            TableNotFound: there is no table.
            CorruptTableError: its properties are damaged.
            UnsupportedError: it has a version or a feature that is not served.
        """
        if isinstance(storage, str | PathLike) or not hasattr(storage, "read"):
            raise UsageError(f"HudiTable takes a storage, not {storage!r:.100}; HudiTable.open(path) opens the table at a path.")
        self.storage = storage
        self.clock = clock or SystemClock()
        self.ids = ids or SystemIds()
        self._engine = engine
        self.refresh()

    def refresh(self) -> None:
        """Read the table's properties again, which another process may have changed by an upgrade; errors as in the constructor.

        Example:
            >>> table.refresh()
            >>> table.config.version
            9
        """
        config = TableConfig(load_properties(self.storage))
        check_readable(config)
        self._config = config

    @classmethod
    def open(cls, path: str | PathLike[str], storage_options: Options | None = None) -> HudiTable:
        """Open the table at a path or URI.

        Args:
            path: a local path, or a URI such as `file:///data/trips` or `s3://bucket/trips` (with the extra `object-store`).
            storage_options: options of the file system that fsspec makes for the URI, such as credentials.

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
        return cls(open_storage(path, storage_options))

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
        storage = open_storage(path, storage_options)
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

    def __repr__(self) -> str:
        return f"HudiTable({self.storage.uri!r})"

    @property
    def config(self) -> TableConfig:
        """The table's properties (`hoodie.properties`) as they were when it was opened.

        Example:
            >>> table.config.record_key_fields, table.config.is_merge_on_read
            (('id',), True)
        """
        return self._config

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table now, without the `_hoodie_*` columns.

        Raises:
            CorruptTableError: the latest commit, which states them, is damaged.

        Example:
            >>> table.schema.field("fare").type
            DataType(double)
        """
        return open_snapshot(self.storage, SnapshotQuery()).schema

    @property
    def inspect(self) -> Inspect:
        """Partitions, file slices, files, statistics and damage as Arrow tables.

        Example:
            >>> table.inspect.partitions().column_names
            ['partition_path', 'file_groups', 'files', 'bytes']
        """
        return Inspect(self.storage, self)

    @property
    def services(self) -> Services:
        """Table services: compaction, clustering, indexes, archival, rollback.

        Example:
            >>> table.services.compact()[0].rows
            2
        """
        return Services(self.storage, self.clock, self.ids, refresh=self.refresh)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        filter: str | pc.Expression | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.Table:
        """Return rows as an Arrow table.

        Args:
            columns: the columns to return, in this order; all when None.
            filter: SQL text such as `city = 'oslo' AND fare > 8`, or a pyarrow expression.
            as_of: a time in the past: an instant, a text such as `2026-12-01 04:05:47`, or an aware datetime.
            mode: `snapshot`, or `read_optimized`, which leaves log files out.
            meta_columns: put the five `_hoodie_*` columns first.
            options: `hoodie.*` options of reads, such as `hoodie.memory.merge.max.size`, the bytes of log files that are merged at once.

        Returns:
            The rows with the columns of `schema`, in no particular order.

        Raises:
            UsageError: a column, the filter, the time or an option is wrong.
            CorruptTableError: a file of the table is damaged or missing.

        Example:
            >>> table.to_arrow(["id", "fare"], "city = 'oslo'").sort_by("id").to_pylist()
            [{'id': 1, 'fare': 7.5}, {'id': 2, 'fare': 13.5}]
            >>> table.to_arrow(["fare"], "id = 2", as_of="2026-01-02 03:30").to_pylist()
            [{'fare': 12.0}]
        """
        return read_table(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        filter: str | pc.Expression | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.RecordBatchReader:
        """Return rows as a stream of record batches; memory stays bounded. Arguments as in `to_arrow`.

        Returns:
            A reader, which opens files while it is read; its schema is known at once.

        Raises:
            UsageError: a column, the filter, the time or an option is wrong.
            CorruptTableError: a file of the table is damaged or missing; the reader raises it, too.

        Example:
            >>> sum(batch.num_rows for batch in table.to_batches(["id"]))
            3
        """
        return read_batches(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def count(self, filter: str | pc.Expression | None = None, as_of: str | datetime | None = None) -> int:  # noqa: A002
        """Return the number of rows; without a filter, from the files' footers and the logs alone.

        Args:
            filter: SQL text or a pyarrow expression, as in `to_arrow`.
            as_of: a time in the past, as in `to_arrow`.

        Raises:
            UsageError: the filter or the time is wrong.
            CorruptTableError: a file of the table is damaged or missing.

        Example:
            >>> table.count(), table.count("fare > 8")
            (3, 2)
        """
        return count_rows(selection(self.storage, None, filter, as_of, "snapshot", meta_columns=False))

    def changes(
        self,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        format: ChangesFormat = "latest_state",  # noqa: A002 - the public name
        *,
        meta_columns: bool = False,
        schema_at_end: bool = False,
    ) -> pa.Table:
        """Return the rows that were written after `since` up to and including `until`, with the values that they have at `until`.

        Args:
            since: completion time (requested time in table version 6) after which commits count; None or `earliest` means all.
            until: the last such time; None means now.
            format: `latest_state`, or `cdc`: what happened to each record, with images before and after as JSON texts, of a table that
                captures its changes (`hoodie.table.cdc.enabled`).
            meta_columns: put the five `_hoodie_*` columns first.
            schema_at_end: return the columns that the table had at `until`, not its latest ones, which are null in rows from before.

        Returns:
            With `latest_state` the columns of `schema`, with `cdc` the strings `op` (`i`, `u` or `d`), `ts_ms`, `before` and `after`.

        Raises:
            UnsupportedError: a feature of the table is not served.
            UsageError: a bound is no time, the table captures no changes, or commits or files that are needed are archived or cleaned away;
                then the message names the earliest safe time.

        Example:
            >>> table.changes(since="2026-01-02 03:30").to_pylist()
            [{'id': 2, 'city': 'oslo', 'ts': 20, 'fare': 13.5}]
        """
        return changes(self.storage, since, until, format, meta_columns=meta_columns, schema_at_end=schema_at_end)

    def history(self) -> pa.Table:
        """Return one row for each action of the timeline and of its archive, oldest first.

        Returns:
            The columns `action` (such as `commit` or `compaction`), `state` (`requested`, `inflight` or `completed`), `requested` and
            `completed` (instant texts), `operation` (such as `UPSERT`) and `engine`, all strings; `inserted`, `updated`, `deleted`,
            `files_written`, `bytes_written` and `file_groups_replaced`, all int64. What an action does not state is null.

        Raises:
            CorruptTableError: a file of the timeline or of its archive is damaged.

        Example:
            >>> table.history().select(["operation", "requested", "inserted", "updated"]).to_pylist()[-1]
            {'operation': 'UPSERT', 'requested': '20260102040506000', 'inserted': 0, 'updated': 1}
        """
        return history(self.storage)

    def insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows; a row whose key the table has already is stored as a second one. `data`, `options` and errors as in `upsert`.

        Returns:
            The instant of the commit and what was written; `instant` is None when there were no rows.

        Example:
            >>> table.insert([{"id": 4, "city": "rome", "ts": 12, "fare": 4.0}]).inserted
            1
        """
        return self._write(Operation.INSERT, data, options)

    def bulk_insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows in new files of the greatest size allowed, for large first loads. `data`, `options` and errors as in `upsert`.

        Returns:
            The instant of the commit and what was written; `instant` is None when there were no rows.

        Example:
            >>> table.bulk_insert(pa.table({"id": [5, 6], "city": ["bern", "bern"], "ts": [1, 1], "fare": [1.0, 2.0]})).files_written
            1
        """
        return self._write(Operation.BULK_INSERT, data, options)

    def upsert(self, data: object, options: Options | None = None) -> WriteResult:
        """Replace records by key and add those that are new; where the table has no record key, by the meta columns that rows bring.

        Args:
            data: an Arrow table or anything with `__arrow_c_stream__`, a pandas or polars frame, a list of dicts, or a
                Spark DataFrame.
            options: `hoodie.*` options of this call; they take precedence over the table's own.

        Returns:
            The instant of the commit, how many records were inserted and updated, and what was written.

        Raises:
            UsageError: data or options do not fit; nothing was written.
            UnsupportedError: this release cannot write the table.
            ConflictError: another writer holds the table for too long, or came between; nothing is visible, try again.
            UnknownOutcomeError: the storage failed in the last step and does not say whether the commit is visible.

        Example:
            >>> rows = [{"id": 1, "city": "oslo", "ts": 30, "fare": 8.0}, {"id": 7, "city": "oslo", "ts": 30, "fare": 2.5}]
            >>> result = table.upsert(rows)
            >>> result.updated, result.inserted
            (1, 1)
        """
        return self._write(Operation.UPSERT, data, options)

    def overwrite(
        self,
        data: object,
        *,
        partitions: Sequence[str] | None = None,
        dynamic: bool = False,
        options: Options | None = None,
    ) -> WriteResult:
        """Replace the whole table, the named partitions, or (`dynamic`) the partitions that the data have rows of.

        Args:
            data: as in `upsert`; it may be empty.
            partitions: partition paths; rows of others are refused.
            dynamic: replace only the partitions that the data have rows of.
            options: `hoodie.*` options of this call.

        Returns:
            The instant of the commit and what was written.

        Raises:
            UsageError: data or options do not fit; nothing was written. Other errors as in `upsert`.

        Example:
            >>> _ = table.overwrite([{"id": 8, "city": "rome", "ts": 40, "fare": 6.0}], partitions=["rome"])
            >>> sorted(table.to_arrow(["id"])["id"].to_pylist())
            [1, 2, 8]
        """
        if partitions is not None and dynamic:
            raise UsageError("overwrite(partitions=...) names what is replaced and dynamic=True leaves it to the data; give one of them.")
        whole = partitions is None and not dynamic
        operation = Operation.INSERT_OVERWRITE_TABLE if whole else Operation.INSERT_OVERWRITE
        return self._write(operation, data, options, partitions=partitions)

    def delete(
        self,
        data: object | None = None,
        *,
        where: str | pc.Expression | None = None,
        partitions: Sequence[str] | None = None,
        options: Options | None = None,
    ) -> WriteResult:
        """Remove records: those whose keys the data hold, those that a condition is true for, or whole partitions.

        Args:
            data: rows that hold at least the record key and partition fields; where the table has no record key, the meta columns
                that they were read with.
            where: SQL text or a pyarrow expression.
            partitions: partition paths.
            options: `hoodie.*` options of this call.

        Returns:
            The instant of the commit and how many records were deleted; `instant` is None when there were none.

        Raises:
            UsageError: none or several of `data`, `where` and `partitions` are given, or they do not fit. Other errors as in `upsert`.

        Example:
            >>> table.delete(where="fare < 8").deleted
            1
            >>> table.delete([{"id": 2, "city": "oslo"}]).deleted
            1
        """
        if sum(given is not None for given in (data, where, partitions)) != 1:
            raise UsageError("delete() takes one of: data with keys, where='<condition>', partitions=[...].")
        if partitions is not None:
            return self._write(Operation.DELETE_PARTITION, None, options, partitions=partitions)
        if where is None:
            return self._write(Operation.DELETE, data, options)
        if not self.config.populate_meta_fields:
            # No column says where a row stands: its key is computed, and looked up.
            named = selection(self.storage, self.config.naming_columns, where, None, "snapshot", meta_columns=False)
            return self._write(Operation.DELETE, read_table(named), options)
        rows = selection(self.storage, [RECORD_KEY, PARTITION_PATH, FILE_NAME], where, None, "snapshot", meta_columns=False)
        return self._write(
            Operation.DELETE_PREPPED, read_table(rows), options, prepped=True, read_snapshot=rows.snapshot.timeline.visibility
        )

    def _write(
        self,
        operation: Operation,
        data: object | None,
        options: Options | None,
        *,
        prepped: bool = False,
        partitions: Sequence[str] | None = None,
        read_snapshot: Visibility | None = None,
    ) -> WriteResult:
        chosen = merge_options(default_write_options(), options or {})
        check_operation(options or {}, operation)
        if data is None and operation is not Operation.DELETE_PARTITION:
            raise UsageError(f"{operation.value.lower()}() needs data, got None: give an Arrow table, a data frame or a list of dicts.")
        return write(
            self, operation, data, options=chosen, prepped=prepped, partitions=partitions, read_snapshot=read_snapshot, engine=self._engine
        )
