"""Reading: `to_arrow`, `scan`, `count`, `changes`, `history` and what pandas and polars get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from pyhudi.progress import progress_bar
from pyhudi.read.execute import count_rows, read_batches, read_table
from pyhudi.read.filter.tuple_filter import FilterLike
from pyhudi.read.snapshot.cleaned_states import reread_when_deleted
from pyhudi.read.snapshot.query_type import QueryType
from pyhudi.table.history_table import history
from pyhudi.table.inspect.action_history import History
from pyhudi.table.methods.table_handle import TableHandle
from pyhudi.table.read_table import ChangesFormat, changes, selection
from pyhudi.table.scan.batch_size import batch_reader, check_row_count
from pyhudi.table.scan.optional_package import load_package
from pyhudi.table.scan.other_names import advised
from pyhudi.table.scan.table_scan import TableScan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Options = Mapping[str, str]


class ReadMethods(TableHandle):
    """The methods of `HudiTable` that read."""

    @advised
    @reread_when_deleted
    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.Table:
        """Return rows as an Arrow table.

        Args:
            columns: the columns to return, in this order; all when None.
            filter: SQL text such as `city = 'oslo' AND fare > 8`, a pyarrow expression, or a list of tuples such as
                `[("city", "=", "oslo"), ("fare", ">", 8)]`.
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
        with progress_bar("read"):
            return read_table(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    @advised
    @reread_when_deleted
    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        batch_size: int | None = None,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pa.RecordBatchReader:
        """Return rows as a stream of record batches; memory stays bounded.

        Args:
            columns: as in `to_arrow`, as are `filter`, `as_of`, `mode`, `meta_columns` and `options`.
            filter: SQL text, a pyarrow expression, or a list of tuples.
            as_of: a time in the past.
            mode: `snapshot` or `read_optimized`.
            batch_size: so many rows in each batch but the last; by default batches are as the files give them.
            meta_columns: put the five `_hoodie_*` columns first.
            options: `hoodie.*` options of reads.

        Returns:
            A reader, which opens files while it is read; its schema is known at once.

        Raises:
            UsageError: a column, the filter, the time or an option is wrong.
            CorruptTableError: a file of the table is damaged or missing; the reader raises it, too.

        Example:
            >>> sum(batch.num_rows for batch in table.to_batches(["id"]))
            3
        """
        selected = selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options)
        if batch_size is None:
            return read_batches(selected)
        return batch_reader(selected, batch_size)

    @advised
    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        types_mapper: Callable[[pa.DataType], object] | None = None,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pd.DataFrame:
        """Return rows as a pandas DataFrame.

        Args:
            columns: as in `to_arrow`, as are `filter`, `as_of`, `mode`, `meta_columns` and `options`.
            filter: SQL text, a pyarrow expression, or a list of tuples.
            as_of: a time in the past.
            mode: `snapshot` or `read_optimized`.
            types_mapper: the pandas type of an Arrow type, such as `pandas.ArrowDtype`; by default pandas' own types, in which an integer
                column with nulls becomes one of floats.
            meta_columns: put the five `_hoodie_*` columns first.
            options: `hoodie.*` options of reads.

        Raises:
            UnsupportedError: pandas is not installed. Other errors as in `to_arrow`.

        Example:
            >>> table.to_pandas(["id", "fare"], "id = 3").to_dict("records")
            [{'id': 3, 'fare': 9.0}]
        """
        load_package("pandas", "to_pandas()")
        rows = self.to_arrow(columns, filter, as_of, mode, meta_columns=meta_columns, options=options)
        return rows.to_pandas(types_mapper=types_mapper)

    @advised
    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> pl.DataFrame:
        """Return rows as a polars DataFrame; `scan().to_polars()` returns a LazyFrame. Arguments as in `to_arrow`, as are the errors.

        Raises:
            UnsupportedError: polars is not installed.

        Example:
            >>> table.to_polars(["id", "fare"], "id = 3").to_dicts()
            [{'id': 3, 'fare': 9.0}]
        """
        polars = load_package("polars", "to_polars()")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow(columns, filter, as_of, mode, meta_columns=meta_columns, options=options))
        return frame

    @advised
    def scan(
        self,
        columns: Sequence[str] | None = None,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        mode: QueryType = "snapshot",
        *,
        meta_columns: bool = False,
        options: Options | None = None,
    ) -> TableScan:
        """Return a lazy scan of the table as it is now, or was: a pyarrow dataset that polars and DuckDB query with pushdown.

        Arguments as in `to_arrow`.

        Returns:
            Rows that are read when they are asked for, as often as they are, always those of the same state.

        Raises:
            UsageError: a column, the filter, the time or an option is wrong.

        Example:
            >>> import duckdb
            >>> trips = table.scan()
            >>> duckdb.sql("SELECT city, sum(fare) FROM trips GROUP BY city ORDER BY city").fetchall()
            [('oslo', 21.0), ('rome', 9.0)]
            >>> trips.to_polars().select("id").collect().height
            3
        """
        return TableScan(selection(self.storage, columns, filter, as_of, mode, meta_columns=meta_columns, options=options))

    @advised
    def head(self, num_rows: int = 5) -> pa.Table:
        """Return some rows; no more of the table is read than they need.

        Args:
            num_rows: at most so many rows, 0 or more. `table.scan(columns, filter).head(5)` chooses among columns and rows.

        Returns:
            An Arrow table with the columns of `schema`; which rows it has is not defined.

        Raises:
            OptionError: `num_rows` is no integer, or below 0.
            CorruptTableError: a file of the table is damaged or missing.

        Example:
            >>> table.head(2).num_rows
            2
        """
        return self.scan().head(num_rows)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        # Without this, `if table:` would count rows, and an empty table would be no table.
        return True

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    @advised
    @reread_when_deleted
    @progress_bar("count")
    def count(
        self,
        filter: FilterLike | None = None,  # noqa: A002 - the public name
        as_of: str | datetime | None = None,
        *,
        options: Options | None = None,
    ) -> int:
        """Return the number of rows; without a filter, from the files' footers and the logs alone.

        Args:
            filter: SQL text, a pyarrow expression, or a list of tuples, as in `to_arrow`.
            as_of: a time in the past, as in `to_arrow`.
            options: `hoodie.*` options of reads, such as `hoodie.datasource.read.paths`.

        Raises:
            UsageError: the filter, the time or an option is wrong.
            CorruptTableError: a file of the table is damaged or missing.

        Example:
            >>> table.count(), table.count("fare > 8")
            (3, 2)
        """
        return count_rows(selection(self.storage, None, filter, as_of, "snapshot", meta_columns=False, options=options))

    @advised
    @reread_when_deleted
    @progress_bar("changes")
    def changes(
        self,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        format: ChangesFormat = "latest_state",  # noqa: A002 - the public name
        *,
        meta_columns: bool = False,
        schema_at_end: bool = False,
        options: Options | None = None,
    ) -> pa.Table:
        """Return the rows that were written after `since` up to and including `until`, with the values that they have at `until`.

        Args:
            since: completion time (requested time in table version 6) after which commits count; None or `earliest` means all.
            until: the last such time; None means now.
            format: `latest_state`, or `cdc`: what happened to each record, with images before and after as JSON strings, of a table that
                captures its changes (`hoodie.table.cdc.enabled`).
            meta_columns: put the five `_hoodie_*` columns first.
            schema_at_end: return the columns that the table had at `until`, not its latest ones, which are null in rows from before.
            options: `hoodie.*` options of incremental reads, such as `hoodie.datasource.read.incr.filters`.

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
        return changes(self.storage, since, until, format, meta_columns=meta_columns, schema_at_end=schema_at_end, options=options)

    @progress_bar("history")
    def history(self, limit: int | None = None) -> History:
        """Return one row for each action of the timeline and of its archive, oldest first.

        Args:
            limit: only so many of the latest actions, 0 or more.

        Returns:
            The columns `action` (such as `commit` or `compaction`), `state` (`requested`, `inflight` or `completed`), `requested` and
            `completed` (instant strings), `operation` (such as `UPSERT`) and `engine`, all strings; `inserted`, `updated`, `deleted`,
            `files_written`, `bytes_written` and `file_groups_replaced`, all int64. What an action does not state is null. `rows` is the
            Arrow table; a prompt and a notebook show the latest actions.

        Raises:
            OptionError: `limit` is no integer, or below 0.
            CorruptTableError: a file of the timeline or of its archive is damaged.

        Example:
            >>> table.history(limit=1).num_rows
            1
            >>> table.history().select(["operation", "requested", "inserted", "updated"]).to_pylist()[-1]
            {'operation': 'UPSERT', 'requested': '20260102040506000', 'inserted': 0, 'updated': 1}
        """
        most = None if limit is None else check_row_count(limit, "limit")
        actions = history(self.storage)
        return History(actions if most is None else actions.slice(max(actions.num_rows - most, 0)))
