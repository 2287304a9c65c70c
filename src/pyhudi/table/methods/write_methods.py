"""Writing: one commit for each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from pyhudi.errors import UsageError
from pyhudi.progress import progress_bar
from pyhudi.read.filter.tuple_filter import FilterLike
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import merge_options
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.table.change.assigned_values import Assignments
from pyhudi.table.change.changed_rows import ChangedRows, MergeSource, merged_rows, plain_columns, rows_to_delete, updated_rows
from pyhudi.table.change.merge_builder import MergeBuilder
from pyhudi.table.change.merge_rows import MergeClause, merge_keys
from pyhudi.table.methods.read_methods import ReadMethods
from pyhudi.table.scan.other_names import advised
from pyhudi.table.write_retry import repeated_change
from pyhudi.table.write_table import write
from pyhudi.write.input.incoming_data import to_table
from pyhudi.write.options.validate_options import check_operation
from pyhudi.write.write_result import WriteResult

Options = Mapping[str, str]


class WriteMethods(ReadMethods):
    """The methods of `HudiTable` that write rows."""

    @advised
    def insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows; a row whose key the table has already is stored as a second one. `data`, `options` and errors as in `upsert`.

        Returns:
            The instant of the commit and what was written; `instant` is None when there were no rows.

        Example:
            >>> table.insert([{"id": 4, "city": "rome", "ts": 12, "fare": 4.0}]).inserted
            1
        """
        return self._write(Operation.INSERT, data, options)

    @advised
    def bulk_insert(self, data: object, options: Options | None = None) -> WriteResult:
        """Add rows in new files of the greatest size allowed, for large first loads. `data`, `options` and errors as in `upsert`.

        Returns:
            The instant of the commit and what was written; `instant` is None when there were no rows.

        Example:
            >>> table.bulk_insert(pa.table({"id": [5, 6], "city": ["bern", "bern"], "ts": [1, 1], "fare": [1.0, 2.0]})).files_written
            1
        """
        return self._write(Operation.BULK_INSERT, data, options)

    @advised
    def upsert(self, data: object, options: Options | None = None) -> WriteResult:
        """Replace records by key and add those that are new; where the table has no record key, by the meta columns that rows bring.

        Args:
            data: an Arrow table or anything with `__arrow_c_stream__`, a pandas or polars frame (also a LazyFrame), a list of dicts, a dict
                of columns or of one row, the path of a Parquet file or of a folder of them, or a Spark DataFrame.
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

    @advised
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

    @advised
    @progress_bar("delete")
    def delete(
        self,
        data: object | None = None,
        *,
        where: FilterLike | None = None,
        partitions: Sequence[str] | None = None,
        options: Options | None = None,
    ) -> WriteResult:
        """Remove records: those whose keys the data hold, those that a condition is true for, or whole partitions.

        Args:
            data: rows that hold at least the record key and partition fields; where the table has no record key, the meta columns
                that they were read with.
            where: SQL text, a pyarrow expression, or a list of tuples.
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
        return self._write_changes(lambda _: rows_to_delete(self.storage, self.config, where), options)

    @advised
    @progress_bar("update")
    def update(
        self,
        set: Assignments,  # noqa: A002 - the public name, that of SQL
        where: FilterLike | None = None,
        options: Options | None = None,
    ) -> WriteResult:
        """Give columns of stored rows new values, in this process.

        Args:
            set: the new value of each column: SQL text such as `fare * 2` or `'paid'` (with its quotes), a pyarrow expression, or a
                constant that is no text.
            where: SQL text, a pyarrow expression, or a list of tuples, as in `to_arrow`; all rows when None.
            options: `hoodie.*` options of this call.

        Returns:
            The instant of the commit and how many records were updated; `instant` is None when the condition is true for none.

        Raises:
            SchemaError: a column does not exist, is part of the record key or the partition, or cannot hold its value.
            UsageError: an expression or the condition is wrong; nothing was written. Other errors as in `upsert`.

        Example:
            >>> table.update({"fare": "fare + 1", "ts": 30}, where="city = 'oslo'").updated
            2
            >>> table.to_arrow(["fare"], "id = 1").to_pylist()
            [{'fare': 8.5}]
        """
        return self._write_changes(lambda chosen: updated_rows(self.storage, self.config, chosen, set, where), options)

    @advised
    def merge(self, source: object, on: str | Sequence[str] | Mapping[str, str] | None = None) -> MergeBuilder:
        """Begin a merge: what happens to rows that match a row of the source, and to rows of the source that match none.

        The merge runs in this process; for a source that does not fit there, use `MERGE INTO` of Spark SQL, which writes the same way.

        Args:
            source: rows as in `upsert`.
            on: the columns by which rows match: a name, several, or names of the table with those of the source; the record key by default.

        Returns:
            A merge without clauses, which does nothing until `execute`.

        Raises:
            UsageError: there is no source, or nothing to match by.
            SchemaError: a column of `on` does not exist.

        Example:
            >>> rows = [{"id": 1, "city": "oslo", "ts": 30, "fare": 9.5}, {"id": 8, "city": "oslo", "ts": 30, "fare": 2.0}]
            >>> result = table.merge(rows).when_matched_update().when_not_matched_insert().execute()
            >>> result.updated, result.inserted
            (1, 1)
        """
        if source is None:
            raise UsageError(
                f"merge into table {self.config.name} needs a source, got None: give an Arrow table, a data frame or a list of dicts."
            )
        rows = plain_columns(to_table(source, lambda: self.schema))
        pairs = merge_keys(on, self.config, self.schema, rows.schema)
        return MergeBuilder(lambda clauses, options: self._merge(rows, pairs, clauses, options))

    @progress_bar("merge")
    def _merge(
        self, rows: pa.Table, pairs: Sequence[tuple[str, str]], clauses: Sequence[MergeClause], options: Options | None
    ) -> WriteResult:
        source = MergeSource(rows, pairs)
        return self._write_changes(lambda chosen: merged_rows(self.storage, self.config, chosen, source, clauses), options)

    def _write_changes(self, read: Callable[[Options], ChangedRows], options: Options | None) -> WriteResult:
        """Write what `read` returns, which is given the options with their defaults; another write that is faster has both done again."""
        chosen = merge_options(default_write_options(), options or {})

        def change() -> WriteResult:
            changed = read(chosen)
            return self._write(
                changed.operation,
                changed.rows,
                options,
                prepped=changed.prepped,
                read_snapshot=changed.read_snapshot,
                columns=changed.columns,
            )

        return repeated_change(change, chosen)

    def _write(
        self,
        operation: Operation,
        data: object | None,
        options: Options | None,
        *,
        prepped: bool = False,
        partitions: Sequence[str] | None = None,
        read_snapshot: Visibility | None = None,
        columns: Sequence[str] | None = None,
    ) -> WriteResult:
        chosen = merge_options(default_write_options(), options or {})
        check_operation(options or {}, operation)
        if data is None and operation is not Operation.DELETE_PARTITION:
            raise UsageError(f"{operation.value.lower()}() needs data, got None: give an Arrow table, a data frame or a list of dicts.")
        with progress_bar(operation.value.lower().replace("_", " ")):
            return write(
                self,
                operation,
                data,
                options=chosen,
                prepped=prepped,
                partitions=partitions,
                read_snapshot=read_snapshot,
                columns=columns,
                engine=self._engine,
            )
