"""Statements that would change a Hudi table which they do not name plainly: through a view, IDENTIFIER(...) or EXECUTE IMMEDIATE.

Spark 4.1 would refuse them as well, but says nothing of the reason, or ends in an internal error. Spark 4.3 replaces a constant in
IDENTIFIER(...) while it parses; these statements are refused there too, so that all Spark lines answer alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark.catalog import catalog_table, relations
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.sql.statement import statement as statements
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import Token, find_word, slice_text

_COMPUTED: Final = "PlanWithUnresolvedIdentifier"
#: Statements that change rows, and where their plans name the table.
_CHANGES: Final = {"UpdateTable": "table", "DeleteFromTable": "table", "MergeIntoTable": "targetTable"}
#: Words right before the name of a table that a statement writes or creates; `INSERT INTO` takes `TABLE` behind it.
_BEFORE_TARGET: Final = (
    *(("INTO",), ("OVERWRITE",), ("UPDATE",), ("INTO", "TABLE"), ("OVERWRITE", "TABLE")),
    *(("DELETE", "FROM"), ("CREATE", "TABLE"), ("REPLACE", "TABLE"), ("NOT", "EXISTS")),
)


def check(statement: Statement) -> None:
    """Refuse a statement that changes a Hudi table without its plain name.

    Raises:
        UsageError: it would change a view.
        UnsupportedError: it computes its table's name, or its text, while it runs.
    """
    if "ExecuteImmediate" in statement.kind:
        _check_text(statement)
    elif statement.kind == _COMPUTED or _computed_target(statement) is not None:
        _check_name(statement)
    elif (part := _CHANGES.get(statement.kind)) is not None:
        node = getattr(statement.plan, part)()
        name = next(statement.names_of(node), None)
        if name is not None:
            _check_view(statement, name)
        elif _COMPUTED in str(node.toString()):
            _check_name(statement)


def _check_view(statement: Statement, name: tuple[str, ...]) -> None:
    if catalog_table.find(statement.session, name) is not None:
        return
    behind = relations.refresh_all(statement.session, [name])
    if behind:
        raise UsageError(
            f"{'.'.join(name)} is a view over the Hudi table {behind[0].qualified_name}, and a view has no rows of its own to change: name"
            " the table itself."
        )


def _check_name(statement: Statement) -> None:
    """Refuse `UPDATE IDENTIFIER(...)` of a Hudi table, and `CREATE TABLE IDENTIFIER(...) USING hudi`."""
    tokens, at = statement.tokens, _computed_target(statement)
    if at is None:
        at = next(_computed_names(tokens))
    end = next(i for i in range(at + 2, len(tokens)) if tokens[i].text == ")" and tokens[i].depth == tokens[at + 1].depth)
    name = _value(statement, tokens[at + 2 : end])
    table = catalog_table.find(statement.session, name) if name else None
    if table is not None or _is_made_a_hudi_table(tokens):
        raise UnsupportedError(
            f"The statement computes the name of its Hudi table, {name}, with IDENTIFIER(...), which is served in queries only: write the"
            " name itself."
        )


def _computed_names(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the indexes of `IDENTIFIER(...)` in a statement."""
    return (i for i, token in enumerate(tokens[:-1]) if token.is_word("IDENTIFIER") and tokens[i + 1].text == "(")


def _computed_target(statement: Statement) -> int | None:
    """Return the index of the computed name of the table that a statement writes or creates, None if it has none."""
    if "identifier" not in statement.text.lower():
        return None
    tokens = statement.tokens
    for at in _computed_names(tokens):
        if any(_ends_with(tokens[:at], words) for words in _BEFORE_TARGET):
            return at
    return None


def _ends_with(tokens: Sequence[Token], words: tuple[str, ...]) -> bool:
    last = tokens[-len(words) :]
    return len(last) == len(words) and all(token.is_word(word) for token, word in zip(last, words, strict=True))


def _is_made_a_hudi_table(tokens: Sequence[Token]) -> bool:
    using = find_word(tokens, "USING") if tokens[0].is_word("CREATE", "REPLACE") else None
    return using is not None and tokens[using + 1].text.strip("`").lower() == catalog_table.PROVIDER


def _check_text(statement: Statement) -> None:
    tokens = statement.tokens
    end = find_word(tokens, "INTO", "USING", after=2)
    text = _value(statement, tokens[2:end])
    run = statements.read(statement.session, statement.spark_sql, text, None)
    table: CatalogTable | None = None
    if run.kind in _CHANGES or run.kind == "InsertIntoStatement":
        table = run.hudi_table()
    if table is not None:
        raise UnsupportedError(
            f"EXECUTE IMMEDIATE does not reach the Hudi table {table.qualified_name}: run the statement itself, with its parameters as"
            " spark.sql(text, args=...)."
        )


def _value(statement: Statement, tokens: Sequence[Token]) -> str:
    """Return what Spark makes of an expression."""
    frame = statement.run_sql(f"SELECT {slice_text(statement.text, tokens)}")
    return str(frame.collect()[0][0])
