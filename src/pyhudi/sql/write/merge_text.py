"""The parts of a MERGE INTO as they were written: tables, condition, and what each WHEN clause does.

Spark's parser has accepted the text; its tokens give the positions of the clauses (`sql/text/tokens.py`). WHEN and THEN of a CASE
expression outside brackets are distinguished from those of the statement by counting CASE and END.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyhudi.errors import UsageError
from pyhudi.sql.text.tokens import Token, find_word, inside, name_at, name_part, quote, slice_text, split, tokenize
from pyhudi.sql.write.assignments import Assignment, assignment, column_parts, value_text
from pyhudi.write.merge_clause import ClauseAction, MatchKind


@dataclass(frozen=True, slots=True)
class Clause:
    """One WHEN clause; `assignments` is None for `*`, which means every column by its name in the source."""

    rows: MatchKind
    condition: str
    action: ClauseAction
    assignments: tuple[Assignment, ...] | None = ()


@dataclass(frozen=True, slots=True)
class MergeText:
    """A MERGE INTO; `target` and `source` are relations with their aliases, their names are what qualifies their columns."""

    with_clause: str
    target: str
    target_name: str
    source: str
    source_name: str
    on: str
    clauses: tuple[Clause, ...]
    #: Whether the clauses have subqueries, which may name what WITH defines.
    has_subqueries: bool


def merge_text(text: str) -> MergeText:
    """Take the text of a MERGE apart.

    Raises:
        UsageError: the source is a subquery without a name.
    """
    tokens = tokenize(text)
    start = find_word(tokens, "MERGE")
    assert start is not None, "the parser saw a MERGE"
    into = _word(tokens, "INTO", start)
    using = _word(tokens, "USING", into)
    on = _word(tokens, "ON", using)
    whens = list(_clause_starts(tokens, on))
    target, source = tokens[into + 1 : using], tokens[using + 1 : on]
    edges = [*whens, len(tokens)]
    return MergeText(
        with_clause=slice_text(text, tokens[:start]),
        target=slice_text(text, target),
        target_name=_qualifier(target),
        source=slice_text(text, source),
        source_name=_qualifier(source),
        on=slice_text(text, tokens[on + 1 : edges[0]]),
        clauses=tuple(_clause(text, tokens[first:end]) for first, end in itertools.pairwise(edges)),
        has_subqueries=any(token.is_word("SELECT", "FROM", "TABLE", "VALUES") and token.depth for token in tokens[edges[0] :]),
    )


def _word(tokens: Sequence[Token], word: str, after: int) -> int:
    index = find_word(tokens, word, after=after)
    assert index is not None, f"the parser saw {word}"
    return index


def _qualifier(relation: Sequence[Token]) -> str:
    """Return what precedes a column of a relation: its alias, or its name as written.

    Raises:
        UsageError: a subquery without alias.
    """
    if relation[0].text == "(":
        named = [token for token in relation[1:] if token.depth == 0 and token.text not in "()," and not token.is_word("AS")]
        if not named:
            raise UsageError("MERGE INTO: give the subquery behind USING a name, as in USING (SELECT ...) AS s.")
        return quote(name_part(named[0]))
    name = name_at(relation, 0)
    rest = [token for token in relation[2 * len(name) - 1 :] if token.depth == 0 and not token.is_word("AS")]
    return quote(name_part(rest[0])) if rest else ".".join(map(quote, name))


def _clause_starts(tokens: Sequence[Token], after: int) -> Iterator[int]:
    for at in _outside_case(tokens, after):
        if tokens[at].is_word("WHEN"):
            yield at


def _outside_case(tokens: Sequence[Token], start: int) -> Iterator[int]:
    """Yield the indexes of tokens outside brackets and CASE expressions."""
    cases = 0
    for at in range(start, len(tokens)):
        token = tokens[at]
        if token.depth:
            continue
        if token.is_word("CASE") and not _is_name(tokens, at):
            cases += 1
        elif token.is_word("END") and cases and not _is_name(tokens, at):
            cases -= 1
        elif not cases:
            yield at


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    """True for a word that a dot makes part of a name, such as `s.end`."""
    return tokens[at - 1].text == "." or (at + 1 < len(tokens) and tokens[at + 1].text == ".")


def _clause(text: str, tokens: Sequence[Token]) -> Clause:
    then = next(at for at in _outside_case(tokens, 0) if tokens[at].is_word("THEN"))
    head, action = tokens[:then], tokens[then + 1 :]
    matched = next(at for at, token in enumerate(head) if token.is_word("MATCHED"))
    rest = matched + 1
    rows = MatchKind.NOT_MATCHED if head[matched - 1].is_word("NOT") else MatchKind.MATCHED
    if rest < len(head) and head[rest].is_word("BY"):
        rows = MatchKind.NOT_MATCHED_BY_SOURCE if head[rest + 1].is_word("SOURCE") else rows
        rest += 2
    condition = slice_text(text, head[rest + 1 :])  # after AND
    return Clause(rows, condition, *_action_of(text, action))


def _action_of(text: str, tokens: Sequence[Token]) -> tuple[ClauseAction, tuple[Assignment, ...] | None]:
    if tokens[0].is_word("DELETE"):
        return ClauseAction.DELETE, ()
    if tokens[0].is_word("UPDATE"):
        stated = tokens[2:]
        if stated[0].text == "*":
            return ClauseAction.UPDATE, None
        return ClauseAction.UPDATE, tuple(assignment(text, part) for part in split(stated, ","))
    if tokens[1].text == "*":
        return ClauseAction.INSERT, None
    values_at = _word(tokens, "VALUES", 0)
    columns = [column_parts(part) for part in split(inside(tokens[1:values_at]), ",")]
    values = [value_text(text, part) for part in split(inside(tokens[values_at + 1 :]), ",")]
    return ClauseAction.INSERT, tuple(map(Assignment, columns, values))
