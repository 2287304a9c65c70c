"""A shell for SQL statements that prints what `spark-sql` prints: rows as lines of values with tabs between them.

Rules: Spark's `SparkSQLCLIDriver`; rows become text by Spark's own `HiveResult`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import HudiError, UsageError
from pyhudi.spark.jvm.jvm import java_causes
from pyhudi.sql.text.tokens import scan

_HEADER: Final = "spark.sql.cli.print.header"
#: Spark's CLI takes Hive's name, too.
_HIVE_HEADER: Final = "hive.cli.print.header"

#: Prints a text; the line break is part of it.
Output = Callable[[str], None]


def split_statements(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at the semicolons outside of strings, names and comments; each statement says whether a semicolon ends it.

    Example:
        >>> list(split_statements("SELECT ';'; SELECT 2"))
        [("SELECT ';'", True), ('SELECT 2', False)]
    """
    start = end = 0
    try:
        for token_start, token_end in scan(text):
            if text[token_start:token_end] != ";":
                end = token_end
                continue
            if text[start:end].strip():
                yield text[start:end].strip(), True
            start = end = token_end
    except UsageError:  # a string or comment that is still open: the rest is one statement, which the parser refuses by name
        end = len(text)
    if text[start:end].strip():
        yield text[start:end].strip(), False


class SqlShell:
    """Runs statements in a session, and prints rows on one output, times and errors on another."""

    def __init__(self, session: SparkSession, rows: Output, notes: Output, *, is_silent: bool = False) -> None:
        self._session, self._rows, self._notes, self._is_silent = session, rows, notes, is_silent
        # PySpark logs each error with its stack, too.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)

    def run(self, statement: str) -> bool:
        """Run one statement; return whether it succeeded. An error is told in words."""
        started = time.monotonic()
        try:
            count = self._print_rows(self._session.sql(statement))
        except (HudiError, PySparkException) as error:
            self._notes(f"{type(error).__name__}: {error}\n")
            return False
        except Py4JJavaError as error:  # PySpark has no class for it
            self._notes(f"{_summary(error)}\n")
            return False
        if not self._is_silent:
            fetched = f", Fetched {count} row(s)" if count else ""
            self._notes(f"Time taken: {time.monotonic() - started:.3f} seconds{fetched}\n")
        return True

    def _print_rows(self, frame: DataFrame) -> int:
        if not frame.columns:
            return 0
        if "true" in (self.setting(_HEADER), self.setting(_HIVE_HEADER)):
            self._rows("\t".join(frame.columns) + "\n")
        java = self._session._jvm  # noqa: SLF001 - py4j's entry point has no public name
        lines = java.org.apache.spark.sql.execution.HiveResult.hiveResultString(  # type: ignore[union-attr]
            frame._jdf.queryExecution().executedPlan()  # noqa: SLF001
        )
        count = int(lines.size())
        if count:
            self._rows(lines.mkString("\n") + "\n")
        return count

    def setting(self, name: str) -> str:
        """Return a switch of the session in lower case, `false` where it is not set."""
        return (self._session.conf.get(name, "false") or "").lower()


def _summary(error: Py4JJavaError) -> str:
    """Return what an error of the JVM and its first cause say, without their stacks."""
    causes = list(java_causes(error.java_exception))
    lines = [str(each.toString()).partition("\n")[0] for each in (causes[0], causes[-1])]
    return "\ncaused by: ".join(dict.fromkeys(lines))
