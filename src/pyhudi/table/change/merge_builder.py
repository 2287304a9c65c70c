"""`HudiTable.merge(source)`: WHEN clauses one after the other, then `execute`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Never, TypeAlias

from pyhudi.errors import UsageError
from pyhudi.table.change.assigned_values import Assignments, Condition
from pyhudi.table.change.merge_rows import MergeClause
from pyhudi.table.scan.other_names import OF_MERGE, missing
from pyhudi.write.merge_clause import ClauseAction, MatchKind
from pyhudi.write.write_result import WriteResult

Run: TypeAlias = Callable[[tuple[MergeClause, ...], Mapping[str, str] | None], WriteResult]


@dataclass(frozen=True, slots=True, repr=False)
class MergeBuilder:
    """A merge that is being described; nothing is read or written before `execute`. Made by `HudiTable.merge`.

    Conditions and values are SQL text over `source.column` and `target.column`; a name that only one of the two has needs no prefix.
    Values that are no strings are constants. Each row is changed by the first clause that applies to it.

    Example:
        >>> rows = [{"id": 2, "city": "oslo", "ts": 30, "fare": 1.0}, {"id": 9, "city": "bern", "ts": 30, "fare": 4.0}]
        >>> result = (
        ...     table.merge(rows, on="id")
        ...     .when_matched_update({"fare": "target.fare + source.fare"}, where="source.ts > target.ts")
        ...     .when_not_matched_insert()
        ...     .execute()
        ... )
        >>> result.updated, result.inserted
        (1, 1)
    """

    _run: Run
    _clauses: tuple[MergeClause, ...] = ()

    def __repr__(self) -> str:
        clauses = "; ".join(f"{clause.rows.value.lower()} {clause.action.value.lower()}" for clause in self._clauses)
        return f"<merge, not executed: {clauses or 'no clause'}; execute() runs it>"

    if not TYPE_CHECKING:  # what a type checker reports by itself

        def __getattr__(self, name: str) -> Never:
            raise missing(self, OF_MERGE, name)

    def when_matched_update(self, set: Assignments | None = None, where: Condition | None = None) -> MergeBuilder:  # noqa: A002
        """Update the rows that match, and that `where` is true for.

        Args:
            set: new values by column; None takes every column from the source.
            where: SQL text, or a pyarrow expression over the columns `source` and `target`.

        Returns:
            The merge with this clause.

        Example:
            >>> merge = table.merge([{"id": 1, "tip": 2.0}]).when_matched_update({"fare": "fare + tip"})
            >>> merge.execute().updated
            1
        """
        return self._with(MatchKind.MATCHED, ClauseAction.UPDATE, where, set)

    def when_matched_delete(self, where: Condition | None = None) -> MergeBuilder:
        """Delete the rows that match, and that `where` is true for; arguments as in `when_matched_update`.

        Returns:
            The merge with this clause.

        Example:
            >>> table.merge([{"id": 1}, {"id": 2}]).when_matched_delete("fare > 10").execute().deleted
            1
        """
        return self._with(MatchKind.MATCHED, ClauseAction.DELETE, where, None)

    def when_not_matched_insert(self, values: Assignments | None = None, where: Condition | None = None) -> MergeBuilder:
        """Insert the rows of the source that match no row, and that `where` is true for.

        Args:
            values: values by column, null for columns that are left out; None takes every column from the source.
            where: SQL text, or a pyarrow expression over the column `source`.

        Returns:
            The merge with this clause.

        Example:
            >>> merge = table.merge([{"id": 7, "town": "bern"}], on="id")
            >>> merge.when_not_matched_insert({"id": "id", "city": "upper(town)", "ts": 1}).execute().inserted
            1
        """
        return self._with(MatchKind.NOT_MATCHED, ClauseAction.INSERT, where, values)

    def when_not_matched_by_source_update(self, set: Assignments, where: Condition | None = None) -> MergeBuilder:  # noqa: A002
        """Update the rows of the table that no row of the source matches, and that `where` is true for; the whole table is read.

        Args:
            set: new values by column, over the columns of the table.
            where: SQL text, or a pyarrow expression over the column `target`.

        Returns:
            The merge with this clause.

        Example:
            >>> table.merge([{"id": 1}]).when_not_matched_by_source_update({"fare": 0.0}, "city = 'rome'").execute().updated
            1
        """
        return self._with(MatchKind.NOT_MATCHED_BY_SOURCE, ClauseAction.UPDATE, where, set or {})

    def when_not_matched_by_source_delete(self, where: Condition | None = None) -> MergeBuilder:
        """Delete the rows of the table that no row of the source matches; arguments as in `when_not_matched_by_source_update`.

        Returns:
            The merge with this clause.

        Example:
            >>> table.merge([{"id": 1}]).when_not_matched_by_source_delete().execute().deleted
            2
        """
        return self._with(MatchKind.NOT_MATCHED_BY_SOURCE, ClauseAction.DELETE, where, None)

    def execute(self, options: Mapping[str, str] | None = None) -> WriteResult:
        """Run the merge in one commit.

        Args:
            options: `hoodie.*` options of this call.

        Returns:
            The instant of the commit and what was written; `instant` is None when nothing changed.

        Raises:
            UsageError: there is no clause, or a condition or value is wrong; nothing was written.
            SchemaError: a clause never applies, or assigns a column that does not exist, is part of the record key, or cannot hold it.
            KeyFieldError: several rows of the source change one record, and no ordering field says which counts.
            ConflictError: another writer came between; nothing is visible, try again.

        Example:
            >>> table.merge([{"id": 3, "fare": 1.5}]).when_matched_update({"fare": "source.fare"}).execute().updated
            1
        """
        if not self._clauses:
            raise UsageError("the merge has no clause: call when_matched_update() or another when_...() before execute().")
        return self._run(self._clauses, options)

    def _with(self, rows: MatchKind, action: ClauseAction, where: Condition | None, assigned: Assignments | None) -> MergeBuilder:
        return replace(self, _clauses=(*self._clauses, MergeClause(rows, action, where, assigned)))
