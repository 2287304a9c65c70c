"""One SQL statement on its way through the front door: its text, its parameters, and what Spark's parser says about
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from pyhudi.cache import cached_property
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spark.catalog import catalog_table, temp_views
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relations import names_in
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.sql.text.tokens import Token, tokenize

#: `SparkSession.sql` as Spark made it: text and parameters in, DataFrame out.
SparkSql: TypeAlias = Callable[..., DataFrame]
Arguments: TypeAlias = Mapping[str, Any] | Sequence[Any] | None


@dataclass(frozen=True)
class Statement:
    """A statement that Spark's parser accepts."""

    session: SparkSession
    spark_sql: SparkSql
    text: str
    args: Arguments
    outer: JavaObject  # the whole plan: the statement itself, or the WITH around it
    paths: Mapping[str, str]  # temporary views that are in the text for tables named by path
    explain: str | None = None  # Spark's mode of EXPLAIN, when the statement is to be explained and not run

    @cached_property
    def plan(self) -> JavaObject:
        """The statement's own node, inside its WITH clause."""
        return self.outer.child() if self.outer.nodeName() == "UnresolvedWith" else self.outer

    @cached_property
    def kind(self) -> str:
        """The class of the statement's plan in Spark, such as `InsertIntoStatement`."""
        return str(self.plan.getClass().getSimpleName())

    @cached_property
    def plan_text(self) -> str:
        """The plan as Spark prints it, with its CTEs and subqueries: all names in one round trip."""
        if self.kind == "ExplainCommand":
            return str(self.plan.logicalPlan().toString())
        return str(self.outer.toString())

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens of the text."""
        return tokenize(self.text)

    def names(self) -> Iterator[tuple[str, ...]]:
        """Yield the parts of every table name in the statement, once each."""
        yield from dict.fromkeys(names_in(self.plan_text))

    def names_read(self, written: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the names that the statement reads: all but the one place where it names the table it writes."""
        names = list(names_in(self.plan_text))
        names.remove(written)
        return names

    def names_of(self, node: JavaObject) -> Iterator[tuple[str, ...]]:
        """Yield the parts of the table names in a part of the plan."""
        yield from names_in(str(node.toString()))

    def hudi_table(self, node: JavaObject | None = None) -> CatalogTable | None:
        """Return the table that the statement, or a part of its plan, names first; None when it is not a Hudi table or there is none."""
        name = next(self.names() if node is None else self.names_of(node), None)
        return None if name is None else self.table_named(name)

    def table_named(self, name: tuple[str, ...]) -> CatalogTable | None:
        """Return the table that the parts of a name mean; None when it is not a Hudi table or there is none."""
        if catalog_table.is_path(name):
            return catalog_table.at_path(name[1])
        path = self.paths.get(name[0]) if len(name) == 1 else None
        return catalog_table.find(self.session, name) if path is None else catalog_table.at_path(path)

    def show_target(self, name: tuple[str, ...], frame: Callable[[], DataFrame]) -> None:
        """Let a table that was named by its path be read, in this statement, as the rows of a DataFrame."""
        if len(name) == 1 and name[0] in self.paths:
            temp_views.put(self.session, name[0], frame())

    def with_names(self) -> Statement:
        """Return the statement with names for its positional parameters, so that parts of it can be asked in any order."""
        if not self.args or isinstance(self.args, Mapping):
            return self
        names = [f"_pyhudi_{number}" for number in range(len(self.args))]
        marks = [token for token in self.tokens if token.text == "?"]
        text = self.text
        for name, mark in reversed(list(zip(names, marks, strict=False))):
            text = f"{text[: mark.start]}:{name}{text[mark.end :]}"
        return read(self.session, self.spark_sql, text, dict(zip(names, self.args, strict=True)), self.paths).explaining(self.explain)

    def explaining(self, mode: str | None) -> Statement:
        """Return the statement as one to be explained in a mode of Spark's EXPLAIN; None is for running it."""
        return replace(self, explain=mode)

    def run_sql(self, text: str) -> DataFrame:
        """Run a text made from parts of this one, with this statement's parameters."""
        return self.spark_sql(text, self.args) if self.args else self.spark_sql(text)

    def ask_for_data(self, text: str) -> DataFrame:
        """Run a query for rows to write; meta columns, which `SELECT *` brings along from a Hudi table, are left out as in Apache Hudi."""
        frame = self.run_sql(text)
        return frame.drop(*META_COLUMNS) if not set(META_COLUMNS).isdisjoint(frame.columns) else frame

    def empty(self) -> DataFrame:
        """Return what Spark returns for a command without rows."""
        return DataFrame(jvm.jvm_session(self.session).emptyDataFrame(), self.session)

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> DataFrame:
        """Return rows of SQL literals as a DataFrame; collecting it needs no Spark job.

        Args:
            columns: Names of the columns.
            rows: The literals, at least one row.
        """
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        return self.spark_sql(f"SELECT * FROM VALUES {listed} AS t({', '.join(columns)})")  # noqa: S608 - literals only


def read(
    session: SparkSession, spark_sql: SparkSql, text: str, args: Arguments, paths: Mapping[str, str] = MappingProxyType({})
) -> Statement:
    """Parse a text; a syntax error is Spark's own ParseException."""
    return Statement(session, spark_sql, text, args, jvm.parse(session, text), paths)
