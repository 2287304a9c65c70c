"""`HudiTable`: the one door to a table. It holds no rows and no listing; every call looks at the storage again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.read.execute import count_rows, read_batches, read_table
from pyhudi.read.snapshot.query_type import Mode, SnapshotQuery
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
from pyhudi.table.changes_reader import ChangesFormat, changes
from pyhudi.table.create_new_table import ARGUMENTS, TABLE_TYPE, create_table
from pyhudi.table.history_table import history
from pyhudi.table.inspect.inspect_table import Inspect
from pyhudi.table.read_table import selection
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
        """Open the table on a storage; `open` is the usual way. Clock, ids and the engine of writes can be given for
        tests.

        Raises:
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
        self._config = TableConfig(load_properties(storage))
        check_readable(self._config)

    @classmethod
    def open(cls, path: str | PathLike[str], storage_options: Options | None = None) -> HudiTable:
        """Open the table at a path or URI; errors as in the constructor."""
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
            path: a place where nothing stands.
            schema: its data columns.
            name: its name.
            keys: record key fields; without any, keys are generated, and rows that are changed have to bring their meta columns.
            partition_by: partition fields.
            order_by: ordering fields: of two records with one key the one with the greater value stays.
            table_type: COPY_ON_WRITE, or MERGE_ON_READ, whose updates go to log files; by default what `hudi-defaults.conf` says, else the
                first.
            options: `hoodie.*` options.
            storage_options: options of the storage.

        Raises:
            TableExists: a table stands there, or files that are not ours.
            UsageError: schema, fields or options are wrong; nothing was written.
            UnsupportedError: this release cannot write such a table.
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
        """The table's properties as they were when it was opened."""
        return self._config

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table now."""
        return open_snapshot(self.storage, SnapshotQuery()).schema

    @property
    def inspect(self) -> Inspect:
        """Partitions, slices, files, statistics, health as Arrow tables."""
        return Inspect(self.storage, self)

    @property
    def services(self) -> Services:
        """Table services."""
        return Services(self.storage, self.clock, self.ids)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        filter: str | pc.Expression | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: Mode = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.Table:
        """Return rows as an Arrow table.

        Args:
            columns: the columns to return, all when None.
            filter: SQL text or a pyarrow expression.
            as_of: a time in the past, see `pyhudi.timeline.clock.parse_time`.
            mode: `snapshot`, or `read_optimized`, which leaves log files out.
            meta_columns: put the five `_hoodie_*` columns first.
            options: `hoodie.memory.merge.max.size`, the bytes of log files that are merged at once.

        Raises:
            UsageError: a column, the filter, the time or an option is wrong.
            CorruptTableError: a file of the table is damaged or missing.
        """
        return read_table(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        filter: str | pc.Expression | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: Mode = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.RecordBatchReader:
        """Return rows as a stream of record batches; memory stays bounded. Arguments and errors as in `to_arrow`."""
        return read_batches(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def count(self, filter: str | pc.Expression | None = None, as_of: str | datetime | None = None) -> int:  # noqa: A002
        """Return the number of rows; without a filter, from the files' footers and the logs alone."""
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
        """Return the rows that were written after `since` up to and including `until`, as they stand at `until`.

        Args:
            since: Completion time (requested time in table version 6) after which commits count; None or `earliest` means all.
            until: The last such time; None means now.
            format: `latest_state`, or `cdc`: what happened to each record, with images before and after as JSON texts, of a table that
                captures its changes (`hoodie.table.cdc.enabled`).
            meta_columns: Put the five `_hoodie_*` columns first.
            schema_at_end: Return the columns that the table had at `until`, not its latest ones, which are null in rows from before.

        Raises:
            UnsupportedError: a feature of the table is not served.
            UsageError: a bound is no time, the table captures no changes, or commits or files that are needed are archived or cleaned away;
                then the message names the earliest safe time.

        Example:
            >>> table.changes(since="20261201040547825")  # doctest: +SKIP
        """
        return changes(self.storage, since, until, format, meta_columns=meta_columns, schema_at_end=schema_at_end)

    def history(self) -> pa.Table:
        """Return one row for each action of the timeline, oldest first."""
        return history(self.storage)

    def insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows; a row whose key is there already stays beside it. Arguments and errors as in `upsert`."""
        return self._write(Operation.INSERT, data, options)

    def bulk_insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows in new files of the greatest size allowed, for large first loads. Arguments and errors as in
        `upsert`.
        """
        return self._write(Operation.BULK_INSERT, data, options)

    def upsert(self, data: object, options: Options | None = None) -> WriteResult:
        """Replace records by key and add those that are new; where the table has no record key, by the meta columns that rows bring.

        Args:
            data: an Arrow table or anything with `__arrow_c_stream__`, a pandas or polars frame, a list of dicts, or a
                Spark DataFrame.
            options: `hoodie.*` options of this call; they go before the table's own.

        Raises:
            UsageError: data or options do not fit; nothing was written.
            UnsupportedError: this release cannot write the table.
            ConflictError: another writer holds the table for too long, or came between; nothing is visible, try again.
            UnknownOutcomeError: the storage failed in the last step and does not say whether the commit is visible.
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

        Raises:
            UsageError: data or options do not fit; nothing was written. Other errors as in `upsert`.
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

        Raises:
            UsageError: none or several of `data`, `where` and `partitions` are given, or they do not fit. Other errors
                as in `upsert`.
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
        return self._write(Operation.DELETE_PREPPED, read_table(rows), options, located=True, seen=rows.snapshot.timeline.visibility)

    def merge(self, *_: Any, **__: Any) -> WriteResult:
        """Not served yet: MERGE with conditions."""
        raise UnsupportedError("table.merge() comes with the release that serves MERGE INTO; upsert() replaces records by key.")

    def _write(
        self,
        operation: Operation,
        data: object | None,
        options: Options | None,
        *,
        located: bool = False,
        partitions: Sequence[str] | None = None,
        seen: Visibility | None = None,
    ) -> WriteResult:
        chosen = merge_options(default_write_options(), options or {})
        check_operation(options or {}, operation)
        if data is None and operation is not Operation.DELETE_PARTITION:
            raise UsageError(f"{operation.value.lower()}() needs data, got None: give an Arrow table, a data frame or a list of dicts.")
        return write(self, operation, data, options=chosen, located=located, partitions=partitions, seen=seen, engine=self._engine)
