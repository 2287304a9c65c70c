"""What ON of a MERGE compares, when it does nothing but ask that columns of the target equal columns of the source."""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.sql.text.tokens import Token, find_word, inside, quote, split, tokenize
from pyhudi.sql.write.assignments import column_parts
from pyhudi.sql.write.merge_text import MergeText


def equalities(text: MergeText) -> list[tuple[str, str]] | None:
    """Return the columns, each of the target with its of the source; None where ON asks for anything else.

    >>> from pyhudi.sql.write.merge_text import merge_text
    >>> statement = "MERGE INTO rides t USING new s ON t.id = s.ride AND s.city = t.city WHEN MATCHED THEN DELETE"
    >>> equalities(merge_text(statement))
    [('id', 'ride'), ('city', 'city')]
    """
    tokens = tokenize(text.on)
    while _is_bracketed(tokens):
        tokens = inside(tokens)
    if find_word(tokens, "OR", "NOT", "BETWEEN") is not None:
        return None
    pairs = []
    for part in split(tokens, "AND"):
        sides = split(part, "=")
        named = {qualifier: name for qualifier, name in map(_column, sides) if name}
        if len(sides) != 2 or text.target_name.lower() not in named or text.source_name.lower() not in named:
            return None
        pairs.append((named[text.target_name.lower()], named[text.source_name.lower()]))
    return pairs


def _is_bracketed(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].text == "(" and tokens[-1].text == ")" and all(token.depth for token in tokens[1:-1])


def _column(tokens: Sequence[Token]) -> tuple[str, str]:
    """Return a column's qualifier, in lower case as `MergeText` quotes it, and its name; empty strings for what is no qualified column."""
    names, dots = tokens[::2], tokens[1::2]
    if len(tokens) % 2 == 0 or any(token.text != "." for token in dots) or not all(_is_name(token) for token in names):
        return "", ""
    *qualifier, name = column_parts(tokens)
    return ".".join(map(quote, qualifier)).lower(), name


def _is_name(token: Token) -> bool:
    return token.text.startswith("`") or token.text.isidentifier()
