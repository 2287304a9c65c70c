"""`df.mergeInto(table, condition)` for Hudi: the MERGE INTO that it means, when the table is a Hudi table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.merge import MergeIntoWriter

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.column_expressions import sql_of
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_method, replace_methods

_ATTRIBUTE: Final = "_pyhudi_merge"
_CLAUSE: Final = "_pyhudi_clause"


def install(is_enabled: IsEnabled) -> None:
    """Replace the writer's methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(MergeIntoWriter, _merge_hooks(is_enabled))
    for clause in _WORDS:
        _install_clause(getattr(MergeIntoWriter, clause), clause)


@dataclass(slots=True)
class _Merge:
    """A merge as it was stated: its source, its table, ON, and the clauses as SQL."""

    frame: DataFrame
    table: str
    condition: Column
    clauses: list[str] = field(default_factory=list)


def _merge_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    def init(writer: MergeIntoWriter, original: Hook, df: DataFrame, table: str, condition: Column) -> None:
        writer.__dict__[_ATTRIBUTE] = _Merge(df, table, condition)
        original(writer, df, table, condition)

    def merge(writer: MergeIntoWriter, original: Hook) -> None:
        stated: _Merge = writer.__dict__[_ATTRIBUTE]
        session = stated.frame.sparkSession
        if not is_enabled(session) or catalog_table.find(session, stated.table) is None:
            original(writer)
            return
        if not stated.clauses:
            raise UsageError(f"mergeInto('{stated.table}') states no clause: whenMatched(), whenNotMatched() or whenNotMatchedBySource().")
        alias = _alias(stated.frame)
        source = "{frame}" if alias is None else f"{{frame}} AS `{_wrap_in_braces(alias)}`"
        condition = _wrap_in_braces(sql_of(session, stated.condition))
        clauses = " ".join(map(_wrap_in_braces, stated.clauses))
        text = f"MERGE INTO {_wrap_in_braces(stated.table)} USING {source} ON {condition} {clauses}"
        session.sql(text, frame=stated.frame)

    def evolving(writer: MergeIntoWriter, original: Hook) -> Any:
        stated: _Merge = writer.__dict__[_ATTRIBUTE]
        session = stated.frame.sparkSession
        if is_enabled(session) and catalog_table.find(session, stated.table) is not None:
            raise UnsupportedError("mergeInto(...).withSchemaEvolution() is not served for Hudi tables: ALTER TABLE ADD COLUMNS first.")
        return original(writer)

    return {"__init__": init, "merge": merge, "withSchemaEvolution": evolving}


_WORDS: Final = {"WhenMatched": "MATCHED", "WhenNotMatched": "NOT MATCHED", "WhenNotMatchedBySource": "NOT MATCHED BY SOURCE"}


def _install_clause(clause: type, kind: str) -> None:
    """Replace the methods of one of the clauses that a merge is made of: each notes what it stands for as SQL."""

    def init(made: Any, original: Hook, writer: MergeIntoWriter, condition: Column | None) -> None:
        made.__dict__[_CLAUSE] = (writer, condition)
        original(made, writer, condition)

    def noting(action: Callable[..., str]) -> Hook:
        def hook(made: Any, original: Hook, *args: Any) -> Any:
            writer, condition = made.__dict__[_CLAUSE]
            stated: _Merge = writer.__dict__[_ATTRIBUTE]
            session = stated.frame.sparkSession
            when = "" if condition is None else f" AND {sql_of(session, condition)}"
            stated.clauses.append(f"WHEN {_WORDS[kind]}{when} THEN {action(session, *args)}")
            return original(made, *args)

        return hook

    def update(session: SparkSession, assignments: Mapping[str, Column]) -> str:
        return "UPDATE SET " + ", ".join(f"{_name(name)} = {sql_of(session, value)}" for name, value in assignments.items())

    def insert(session: SparkSession, assignments: Mapping[str, Column]) -> str:
        values = ", ".join(sql_of(session, value) for value in assignments.values())
        return f"INSERT ({', '.join(map(_name, assignments))}) VALUES ({values})"  # noqa: S608 - the user's own expressions

    actions: dict[str, Callable[..., str]] = {
        "updateAll": lambda _: "UPDATE SET *",
        "update": update,
        "delete": lambda _: "DELETE",
        "insertAll": lambda _: "INSERT *",
        "insert": insert,
    }
    replace_method(clause, "__init__", init)
    for name, action in actions.items():
        if hasattr(clause, name):
            replace_method(clause, name, noting(action))


def _alias(frame: DataFrame) -> str | None:
    plan = frame._jdf.queryExecution().logical()  # noqa: SLF001
    return str(plan.alias()) if plan.nodeName() == "SubqueryAlias" else None


def _name(name: str) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in name.split("."))


def _wrap_in_braces(text: str) -> str:
    """Return a text for `session.sql`'s formatter, which reads braces."""
    return text.replace("{", "{{").replace("}", "}}")
