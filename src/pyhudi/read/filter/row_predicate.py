"""A filter in its two forms: for rows an Arrow expression, for statistics and indexes a condition."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import UsageError
from pyhudi.read.filter.condition import And, Condition, Not, Or, Unknown

_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BY_POSITION: Final = re.compile(r"FieldPath\(")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows are wanted. Both forms say the same; the condition may say less (`Unknown`).

    Example:
        >>> str((Filter(pc.field("a") > 1) & ~Filter(pc.field("b") == 2)).expression)
        '((a > 1) and invert((b == 2)))'
    """

    expression: pc.Expression
    condition: Condition = field(default_factory=Unknown)

    def __and__(self, other: Filter) -> Filter:
        return Filter(self.expression & other.expression, And((self.condition, other.condition)))

    def __or__(self, other: Filter) -> Filter:
        return Filter(self.expression | other.expression, Or((self.condition, other.condition)))

    def __invert__(self) -> Filter:
        return Filter(~self.expression, Not(self.condition))


def check_condition(expression: pc.Expression, schema: pa.Schema) -> None:
    """Refuse an expression that is no condition over rows of a schema.

    Raises:
        UsageError: says why, as Arrow does.
    """
    if _BY_POSITION.search(_TEXT.sub("", str(expression))):
        raise UsageError(f"The filter {expression} names a column by its position, which differs from read to read; give its name.")
    try:
        pa.table([pa.nulls(1, field.type) for field in schema], schema=pa.schema([field.with_nullable(True) for field in schema])).filter(
            expression
        )
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise UsageError(f"The filter {expression} is no condition over the columns {', '.join(schema.names)}: {error}") from None
