"""`column = expression` of UPDATE and MERGE: which column of the table is meant, and the expression as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.errors import SchemaError, UnsupportedError, with_subject
from pyhudi.sql.text.tokens import Token, name_part, slice_text
from pyhudi.sql.write.write_target import WriteTarget


@dataclass(frozen=True, slots=True)
class Assignment:
    """`parts` of the column's name as written (`t.amount`, `amount`), and the new value as SQL text."""

    parts: tuple[str, ...]
    value: str


def assignment(text: str, tokens: Sequence[Token]) -> Assignment:
    """Return the assignment that some tokens of a statement's text state; DEFAULT is null, as columns have no defaults."""
    equals = next(i for i, token in enumerate(tokens) if token.text == "=")
    return Assignment(column_parts(tokens[:equals]), value_text(text, tokens[equals + 1 :]))


def column_parts(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the parts of a column's name."""
    return tuple(name_part(token) for token in tokens if token.text != ".")


def value_text(text: str, tokens: Sequence[Token]) -> str:
    """Return the text of a value."""
    value = slice_text(text, tokens)
    return "NULL" if value.upper() == "DEFAULT" else value


def column_of(target: WriteTarget, parts: tuple[str, ...], what: str) -> str:
    """Return the column that `a`, `t.a` or `db.t.a` means.

    Args:
        target: the table.
        parts: the parts of the name.
        what: the statement for messages, such as `UPDATE`.

    Raises:
        SchemaError: there is no such column.
        UnsupportedError: the name continues inside a column.
    """
    columns = {name.lower(): name for name in target.columns}
    known = [i for i, part in enumerate(parts) if part.lower() in columns]
    if not known:
        problem = f"{target.name} has no column {'.'.join(parts)}: its columns are {', '.join(target.columns)}."
        raise with_subject(SchemaError(problem), ".".join(parts))
    if known[-1] != len(parts) - 1:
        problem = (
            f"{what} of {target.name} assigns {'.'.join(parts)}, a field inside a column; assign the whole column with named_struct(...)."
        )
        raise with_subject(UnsupportedError(problem), ".".join(parts))
    return columns[parts[-1].lower()]
