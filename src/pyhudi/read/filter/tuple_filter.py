"""Filters as lists of tuples, as pandas and pyarrow take them for Parquet files.

`[("a", "=", 1), ("b", "in", [1, 2])]` means that all are true, `[[...], [...]]` that all of one of the lists are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.errors import UsageError
from pyhudi.read.filter.literals import scalar_of

#: SQL text, a pyarrow expression, or a list of tuples.
FilterLike: TypeAlias = str | pc.Expression | Sequence[object]
_SYMBOLS = ("=", "==", "!=", "<", ">", "<=", ">=", "in", "not in")


def expression_of(filters: Sequence[object], schema: pa.Schema) -> pc.Expression:
    """Return the expression that lists of tuples mean over rows of a schema; a text means the time or day that it means in SQL text.

    Raises:
        UsageError: they are no such lists.

    Example:
        >>> str(expression_of([("a", "=", 1), ("b", ">", 2)], pa.schema({"a": pa.int64(), "b": pa.int64()})))
        '((a == 1) and (b > 2))'
    """
    if type(filters).__module__.partition(".")[0] == "polars":
        raise UsageError("the filter is an expression of polars, which table.scan().to_polars().filter(...) takes; here it is SQL text.")
    is_nested = isinstance(filters, list) and filters and all(isinstance(one, list) for one in filters)
    for group in filters if is_nested else [filters]:
        if not isinstance(group, Sequence) or not group or not all(map(_is_test, group)):
            raise UsageError(
                f"the filter {filters!r:.200} is no list of tests such as ('city', '=', 'oslo'), whose operator is one of"
                f" {', '.join(_SYMBOLS)}, and no list of such lists."
            )
    typed: Any = filters if is_nested else [filters]
    typed = [[_typed(one, schema) for one in group] for group in typed]
    try:
        return pq.filters_to_expression(typed)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UsageError(f"the filter {filters!r:.200} cannot be used: {error}") from None


def _is_test(one: object) -> bool:
    return isinstance(one, tuple) and len(one) == 3 and isinstance(one[0], str) and one[1] in _SYMBOLS


def _typed(test: tuple[str, str, Any], schema: pa.Schema) -> tuple[str, str, Any]:
    """Return a test whose texts are times or days, where the column holds these: Arrow compares neither with text."""
    name, symbol, value = test
    index = schema.get_field_index(name)
    if index < 0 or not pt.is_temporal(kind := schema.field(index).type):
        return test
    if isinstance(value, list | tuple | set | frozenset):
        values = [scalar_of(one, kind) if isinstance(one, str) else one for one in value]
        return name, symbol, pa.array(values, kind) if any(isinstance(one, str) for one in value) else value
    return name, symbol, scalar_of(value, kind) if isinstance(value, str) else value
