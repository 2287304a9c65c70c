"""Running a CALL: find the procedure, bind its arguments, show its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame

from pyhudi.errors import UsageError, did_you_mean, with_subject
from pyhudi.sql.call.call_arguments import bind, read_call
from pyhudi.sql.call.procedure import Column, ProcedureCall, Row
from pyhudi.sql.call.registry import PROCEDURES
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import quote, text_literal


def call(statement: Statement) -> DataFrame | None:
    """Run a CALL of one of Hudi's procedures; None when it names another catalog's.

    Raises:
        UsageError: there is no such procedure, or an argument is wrong; the message shows how it is called.
    """
    stated = read_call(statement)
    if stated is None:
        return None
    procedure = PROCEDURES.get(stated.name)
    if procedure is None:
        hint = did_you_mean(stated.name, list(PROCEDURES))
        raise with_subject(UsageError(f"there is no procedure {stated.name}.{hint} CALL help() lists them."), stated.name)
    arguments = bind(statement, procedure, stated)
    answer = answer_frame(statement, procedure.columns, procedure.run(ProcedureCall(statement, procedure, arguments)))
    condition = arguments.get("filter")
    return answer.filter(condition) if condition else answer


def answer_frame(statement: Statement, columns: Sequence[Column], rows: Iterable[Row]) -> DataFrame:
    """Return rows as a DataFrame of local values: nothing runs when it is collected."""
    names = [f"_{index}" for index in range(len(columns))]
    cast = ", ".join(f"CAST({name} AS {column.type}) AS {quote(column.name)}" for name, column in zip(names, columns, strict=True))
    listed = [f"({', '.join(map(_literal, row))})" for row in rows]
    nothing = f"SELECT {', '.join(f'NULL AS {name}' for name in names)} WHERE false"
    source = f"SELECT * FROM VALUES {', '.join(listed)} AS v({', '.join(names)})" if listed else nothing  # noqa: S608 - literals only
    return statement.spark_sql(f"SELECT {cast} FROM ({source})")  # noqa: S608 - literals only


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}L"
    if isinstance(value, float):
        return f"{value!r}D"
    if isinstance(value, dict | list | tuple):
        return text_literal(json.dumps(value))
    return text_literal(str(value))
