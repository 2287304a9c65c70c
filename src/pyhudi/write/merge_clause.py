"""What the WHEN clauses of a merge are about: the same for `MERGE INTO` of SQL and for `HudiTable.merge`."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from pyhudi.errors import SchemaError


class MatchKind(enum.Enum):
    """Which rows a WHEN clause is about."""

    MATCHED = "MATCHED"
    NOT_MATCHED = "NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "NOT MATCHED BY SOURCE"


class ClauseAction(enum.Enum):
    """What a WHEN clause does to its rows."""

    UPDATE = "UPDATE"
    DELETE = "DELETE"
    INSERT = "INSERT"


def check_reachable(clauses: Iterable[tuple[MatchKind, bool]], what: str) -> None:
    """Refuse clauses that never apply.

    Args:
        clauses: of each clause its rows, and whether it has a condition.
        what: the statement, for messages.

    Raises:
        SchemaError: a clause without condition precedes another of its kind.

    Example:
        >>> check_reachable([(MatchKind.MATCHED, True), (MatchKind.MATCHED, False)], "MERGE INTO t")
    """
    ended = set()
    for rows, has_condition in clauses:
        if rows in ended:
            raise SchemaError(
                f"{what}: a WHEN {rows.value} clause follows one without a condition and never applies;"
                " put the clause without a condition last."
            )
        if not has_condition:
            ended.add(rows)


def missing_in_source(what: str, action: ClauseAction, missing: Iterable[str]) -> str:
    """Return the message for a clause that takes every column from a source that lacks some."""
    return (
        f"{what}: {action.value} * needs every column of the table in the source, which lacks {', '.join(missing)};"
        " name the columns instead."
    )


def key_assigned(what: str, name: str) -> str:
    """Return the message for an update that assigns a column which says what row it is."""
    return (
        f"{what} assigns {name}, which is part of the record key or the partition: it says which row this is."
        " A merge that takes every column from its source moves a record to another partition; for another key, delete and insert."
    )
