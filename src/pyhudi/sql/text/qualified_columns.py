"""Columns that a text names with the database of their table in front, such as `sales.rides.id` or `sales.rides.*`."""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.sql.text.tokens import name_at, tokenize


def table_spans(text: str, table: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield where the name of a table begins and ends in front of a column; where it stands for the table itself, it is left out.

    Args:
        text: a statement that Spark's parser accepts.
        table: the parts of the name, such as `("sales", "rides")`; case does not count, nor do quotes.

    Example:
        >>> text = "SELECT sales.rides.id, `Sales`.rides.* FROM sales.rides"
        >>> [text[start:end] for start, end in table_spans(text, ("sales", "rides"))]
        ['sales.rides', '`Sales`.rides']
    """
    tokens, parts = tokenize(text), tuple(part.lower() for part in table)
    for number, token in enumerate(tokens):
        if number and tokens[number - 1].text == ".":
            continue
        name = name_at(tokens, number)
        if len(name) > len(parts) and tuple(part.lower() for part in name[: len(parts)]) == parts:
            yield token.start, tokens[number + 2 * (len(parts) - 1)].end
