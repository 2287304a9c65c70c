"""Whether a text that begins in a known way could pass a filter of Spark.

A partition value may hold slashes and then lies in folders below the one that its first part names. This tells, without
listing such a folder, that no value below it can match. Where it cannot tell, the answer is yes.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.spark import jvm
from pyhudi.spark.jvm import JavaObject

_COMPARISONS = frozenset(
    {
        "EqualTo",
        "EqualNullSafe",
        "GreaterThan",
        "GreaterThanOrEqual",
        "LessThan",
        "LessThanOrEqual",
        "StringStartsWith",
    }
)


class PrefixFilter:
    """One filter on one text column."""

    def __init__(self, session: SparkSession, condition: JavaObject) -> None:
        """Translate a resolved Catalyst expression into Spark's data-source filter, if it has one."""
        strategy = jvm.companion(session, "execution.datasources.DataSourceStrategy")
        nested_columns = False
        self._filter = jvm.value_of(strategy.translateFilter(condition, nested_columns))

    def may_match(self, prefix: str) -> bool:
        """Tell whether any text longer than `prefix` that begins with it could pass."""
        return self._filter is None or _may_match(self._filter, prefix)


def _may_match(condition: JavaObject, prefix: str) -> bool:
    kind = condition.getClass().getSimpleName()
    if kind == "And":
        return _may_match(condition.left(), prefix) and _may_match(condition.right(), prefix)
    if kind == "Or":
        return _may_match(condition.left(), prefix) or _may_match(condition.right(), prefix)
    if kind == "IsNull":
        return False
    if kind == "In":
        return any(_is_at(value, prefix) for value in condition.values())
    return kind not in _COMPARISONS or _compares(kind, condition.value(), prefix)


def _compares(kind: str, value: object, prefix: str) -> bool:
    """Answer for a comparison with one text; Spark orders texts by UTF-8 bytes, Python by code points: the same."""
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
