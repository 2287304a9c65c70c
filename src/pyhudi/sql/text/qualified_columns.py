"""Columns that a text names with the database of their table in front, such as `sales.rides.id` or `sales.rides.*`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyhudi.sql.text.tokens import name_at, tokenize


def database_spans(text: str, tables: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Yield where the database, and the catalog, of some tables begins and ends in front of a column; the table's own name comes next.

    Args:
        text: a statement that Spark's parser accepts.
        tables: the parts of their names, such as `("sales", "rides")`; case does not count, nor do quotes.

    Example:
        >>> text = "SELECT sales.rides.id, `Sales`.rides.* FROM sales.rides"
        >>> [text[start:end] for start, end in database_spans(text, [("sales", "rides")])]
        ['sales.', '`Sales`.']
    """
    tokens, names = tokenize(text), {tuple(part.lower() for part in table) for table in tables}
    for number, token in enumerate(tokens):
        if number and tokens[number - 1].text == ".":
            continue
        parts = tuple(part.lower() for part in name_at(tokens, number))
        for length in (2, 3):
            if len(parts) > length and parts[:length] in names:
                yield token.start, tokens[number + 2 * (length - 1)].start
