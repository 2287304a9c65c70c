"""The plan that Spark's optimizer makes of a DataFrame, and the one way in which the optimizer is known to fail.

Spark 4.1 (`RewritePredicateSubquery`) expects a condition of every EXISTS that names columns from outside, and finds none when it has
folded the condition to false. It does so for tables of every format.
"""

from __future__ import annotations

from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from pyhudi.errors import UnsupportedError
from pyhudi.spark.jvm.jvm import JavaObject

_NO_ELEMENT: Final = "java.util.NoSuchElementException"
_RULE: Final = "RewritePredicateSubquery"


def optimized_plan(frame: DataFrame) -> JavaObject:
    """Return the optimized plan; nothing runs.

    Raises:
        UnsupportedError: Spark's optimizer fails on an EXISTS that can never hold.
    """
    try:
        return frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - no public name
    except Py4JJavaError as error:
        if str(error.java_exception.getClass().getName()) != _NO_ELEMENT or _RULE not in str(error):
            raise
        raise UnsupportedError(
            "Spark's optimizer fails on an EXISTS whose condition can never hold, as in EXISTS (SELECT 1 FROM s WHERE s.id = t.id AND"
            " false). Nothing was written. Such an EXISTS is false for every row: state false in its place, or leave the statement out."
        ) from error
