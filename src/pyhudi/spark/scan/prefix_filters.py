"""Whether a text that begins in a known way could pass a filter of Spark.

A partition value may hold slashes and then lies in folders below the one that its first part names. This tells, without
listing such a folder, that no value below it can match. Where it cannot tell, the answer is yes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pyspark.sql import SparkSession

from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject

#: Tells whether any text longer than a prefix that begins with it could pass.
PrefixTest: TypeAlias = Callable[[str], bool]

_COMPARISONS = frozenset(
    {"EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual", "StringStartsWith"}
)


def prefix_test(session: SparkSession, condition: JavaObject) -> PrefixTest:
    """Return the test of one filter on one text column; the JVM is asked now and not by the test.

    Args:
        session: The session that the filter comes from.
        condition: A resolved Catalyst expression over the column.
    """
    strategy = jvm.companion(session, "execution.datasources.DataSourceStrategy")
    nested_columns = False
    translated = jvm.value_of(strategy.translateFilter(condition, nested_columns))
    return _anything if translated is None else _test_of(translated)


def _test_of(condition: JavaObject) -> PrefixTest:
    """Return the test of one of Spark's data-source filters."""
    kind = condition.getClass().getSimpleName()
    if kind in {"And", "Or"}:
        left, right = _test_of(condition.left()), _test_of(condition.right())
        if kind == "And":
            return lambda prefix: left(prefix) and right(prefix)
        return lambda prefix: left(prefix) or right(prefix)
    if kind == "IsNull":
        return lambda _: False
    if kind == "In":
        values = list(condition.values())
        return lambda prefix: any(_is_at(value, prefix) for value in values)
    if kind in _COMPARISONS:
        value = condition.value()
        return lambda prefix: _compares(kind, value, prefix)
    return _anything


def _compares(kind: str, value: object, prefix: str) -> bool:
    """Answer for a comparison with one text; Spark orders strings by UTF-8 bytes, Python by code points: the same."""
    if not isinstance(value, str):
        return True
    if kind.startswith("Greater"):
        return prefix >= value[: len(prefix)]
    if kind.startswith("Less"):
        return prefix < value
    if kind == "StringStartsWith":
        return value.startswith(prefix) or prefix.startswith(value)
    return _is_at(value, prefix)


def _is_at(value: object, prefix: str) -> bool:
    """Tell whether a value lies below a prefix; one that is no text says nothing."""
    return not isinstance(value, str) or value.startswith(prefix)


def _anything(_: str) -> bool:
    return True
