"""The arguments of a CALL: by name or by place, each a constant expression of SQL that Spark evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.errors import UsageError, did_you_mean, with_subject
from pyhudi.sql.call.procedure import Parameter, Procedure
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import Token, name_part, slice_text, split

#: The default of a limit that may mean all rows.
_ALL: Final = -1


@dataclass(frozen=True, slots=True)
class Stated:
    """A call as it was written: the procedure's name, and name (None: by place) and SQL text of each argument."""

    name: str
    arguments: tuple[tuple[str | None, str], ...]


def read_call(statement: Statement) -> Stated | None:
    """Return what a CALL states; None when it is of another catalog than Hudi's procedures."""
    tokens = statement.tokens
    opening = next(i for i, token in enumerate(tokens) if token.text == "(")
    parts = [name_part(token) for token in tokens[1:opening] if token.text != "."]
    if len(parts) > 2 or (len(parts) == 2 and parts[0].lower() != "system"):
        return None
    closing = next(i for i in range(len(tokens) - 1, 0, -1) if tokens[i].text == ")" and tokens[i].depth == 0)
    inner = [_shallow(token) for token in tokens[opening + 1 : closing]]
    stated = tuple(_argument(statement.text, part) for part in split(inner, ",") if part)
    return Stated(parts[-1].lower(), stated)


def bind(statement: Statement, procedure: Procedure, stated: Stated) -> dict[str, Any]:
    """Return the value of every parameter; null is as if the argument was not stated.

    Raises:
        UsageError: an argument is unknown, stated twice, missing, or of another type; a limit is negative.
    """
    strings: dict[str, str] = {}
    for index, (name, text) in enumerate(stated.arguments):
        parameter = _at(procedure, index) if name is None else _bind_names(procedure, name)
        if parameter.name in strings:
            raise with_subject(UsageError(f"CALL {procedure.name} states {parameter.name} twice."), parameter.name, 1)
        strings[parameter.name] = text
    given = {name: value for name, value in _evaluate(statement, procedure, strings).items() if value is not None}
    if given.get("limit", 0) < 0 and next(one.default for one in procedure.parameters if one.name == "limit") != _ALL:
        raise with_subject(UsageError(f"CALL {procedure.name}: limit is {given['limit']}; it takes 0 or more rows."), str(given["limit"]))
    missing = [parameter.name for parameter in procedure.parameters if parameter.is_required and parameter.name not in given]
    if missing:
        raise with_subject(UsageError(f"CALL {procedure.name} needs the argument {missing[0]}: {usage(procedure)}."), procedure.name)
    return {parameter.name: given.get(parameter.name, parameter.default) for parameter in procedure.parameters}


def usage(procedure: Procedure) -> str:
    """Return how a procedure is called, optional arguments in brackets."""
    parts = [f"{one.name} => {one.type}" if one.is_required else f"[{one.name} => {one.type}]" for one in procedure.parameters]
    return f"CALL {procedure.name}({', '.join(parts)})"


def _shallow(token: Token) -> Token:
    return Token(token.text, token.start, token.end, token.depth - 1)


def _argument(text: str, tokens: Sequence[Token]) -> tuple[str | None, str]:
    if len(tokens) > 3 and tokens[1].text == "=" and tokens[2].text == ">":
        return name_part(tokens[0]), slice_text(text, tokens[3:])
    return None, slice_text(text, tokens)


def _at(procedure: Procedure, position: int) -> Parameter:
    if position >= len(procedure.parameters):
        problem = f"CALL {procedure.name} takes {len(procedure.parameters)} argument(s): {usage(procedure)}."
        raise with_subject(UsageError(problem), procedure.name)
    return procedure.parameters[position]


def _bind_names(procedure: Procedure, name: str) -> Parameter:
    match = next((one for one in procedure.parameters if one.name.lower() == name.lower()), None)
    if match is None:
        hint = did_you_mean(name, [one.name for one in procedure.parameters])
        problem = f"CALL {procedure.name} has no argument {name}.{hint} It is called so: {usage(procedure)}."
        raise with_subject(UsageError(problem), name)
    return match


def _evaluate(statement: Statement, procedure: Procedure, expressions: dict[str, str]) -> dict[str, Any]:
    """Return the values of the expressions, all in one query that is none: Spark folds constants."""
    if not expressions:
        return {}
    types = {one.name: one.type for one in procedure.parameters}
    try:
        row = statement.run_sql("SELECT " + ", ".join(f"{text} AS `{name}`" for name, text in expressions.items())).collect()[0]
    except (ValueError, OverflowError) as error:
        problem = f"CALL {procedure.name}: an argument is a date or time that Python cannot hold ({error}); state it as a text."
        raise UsageError(problem) from error
    return {name: _cast_argument(procedure, name, types[name], row[name]) for name in expressions}


def _cast_argument(procedure: Procedure, name: str, kind: str, value: object) -> object:
    if value is None:
        return None
    if kind == "boolean" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if kind in ("int", "bigint") and not isinstance(value, bool):
        try:
            return int(str(value))
        except ValueError:
            pass
    if kind == "string" and not isinstance(value, bytes | list | dict):
        return str(value).lower() if isinstance(value, bool) else str(value)
    raise with_subject(UsageError(f"CALL {procedure.name}: {name} takes a value of type {kind}, not {value!r}."), str(value))
