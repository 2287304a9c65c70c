"""Functions of a column in filters: what a call means to indexes, and how Arrow computes it for rows.

The functions are those of expression indexes, with Spark's meaning. Timestamps are shown by the clock of UTC, as the values of the table
are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import UsageError, did_you_mean
from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION
from pyhudi.metadata_table.format.index_expressions import DEFAULT_PATTERN, IDENTITY, Expression
from pyhudi.metadata_table.format.index_expressions import FUNCTIONS as _COMPUTED
from pyhudi.read.filter.condition import Column, FunctionCall, Operand

ZONE: Final = "UTC"
#: Names of the constant arguments, in the order in which SQL has them, as index definitions call them.
_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "substring": ("pos", "len"),
    "date_format": ("format",),
    "from_unixtime": ("format",),
    "date_add": ("days",),
    "date_sub": ("days",),
}
_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {"from_unixtime": (DEFAULT_PATTERN,)}
_OTHER_NAMES: Final = {"lcase": "lower", "ucase": "upper", "substr": "substring", "dayofmonth": "day", "char_length": "length"}
#: All that can be called.
NAMES: Final = frozenset({*_COMPUTED, *_OTHER_NAMES} - {IDENTITY})


def call_of(name: str, column: Column, arguments: Sequence[object]) -> FunctionCall:
    """Return a call of a function by its name in SQL.

    Raises:
        UsageError: the function is unknown, or takes other arguments, or no column of this type.

    Example:
        >>> call_of("LOWER", Column(("city",), pa.string()), ()).function
        'lower'
    """
    function = _OTHER_NAMES.get(name.lower(), name.lower())
    if function not in NAMES:
        raise UsageError(
            f"The filter calls '{name}', which is not served in filters; {', '.join(sorted(NAMES))} are.{did_you_mean(name, NAMES)}"
        )
    names = _ARGUMENTS.get(function, ())
    given = tuple(map(str, arguments)) or _DEFAULTS.get(function, ())
    if len(given) != len(names) or None in arguments:
        signature = ", ".join(("column", *names))
        raise UsageError(f"The filter calls {name} of '{column.name}' with {len(arguments)} more arguments; it is {name}({signature}).")
    if "format" in names and not all(isinstance(argument, str) for argument in arguments):
        raise UsageError(f"The filter calls {name} of '{column.name}' with the format {arguments[0]}; it is a text, such as 'yyyy-MM-dd'.")
    options = tuple(zip(names, given, strict=True))
    kind = Expression(function, dict(options) | {ZONE_OPTION: ZONE}).result_type(column.type)
    if kind is None:
        stated = f" with {', '.join(f'{one} {value!r}' for one, value in options)}" if options else ""
        raise UsageError(f"The filter calls {name} of column '{column.name}' of type {column.type}{stated}, which is not served.")
    return FunctionCall(function, column, kind, options, ZONE if _shows_clock(function, column.type) else None)


def rows_of(operand: Operand, value: pc.Expression | None = None) -> pc.Expression:
    """Return the expression that computes an operand for rows; a function may get a `value` of its column's type in the place of it."""
    if isinstance(operand, Column):
        return pc.field(*operand.path)
    names = tuple(name for name, _ in operand.options)
    function = _register(operand.function, names, operand.column.type, operand.type)
    # Arrow's documentation calls functions of users so: there is no other way into an expression.
    argument = pc.field(*operand.column.path) if value is None else value
    return pc.Expression._call(function, [argument, *(pc.scalar(value) for _, value in operand.options)])  # noqa: SLF001


def _shows_clock(function: str, kind: pa.DataType) -> bool:
    """Tell whether the result depends on a time zone."""
    return function == "from_unixtime" or (pt.is_timestamp(kind) and kind.tz is not None)


def _register(function: str, names: tuple[str, ...], kind: pa.DataType, result: pa.DataType) -> str:
    """Return the name by which Arrow knows a function of columns of a type, after telling it of the function.

    Arrow's registry is the only state: it has a lock, and no way to take a function off again. There is one for each function of an
    expression index and each type of columns that it was called for.
    """
    registered_name = f"pyhudi_{function}({', '.join((str(kind), *names))})"
    with contextlib.suppress(KeyError):
        pc.get_function(registered_name)
        return registered_name

    def compute(_: object, column: pa.Array, *values: Any) -> pa.Array:
        # Constants come as scalars, or as arrays of one value when Arrow computes a partition's value beforehand.
        stated = {name: (value if isinstance(value, pa.Scalar) else value[0]).as_py() for name, value in zip(names, values, strict=True)}
        return Expression(function, stated | {ZONE_OPTION: ZONE}).of_column(column)

    types = {"column": kind, **{name: pa.string() for name in names}}
    summary = {"summary": f"{function} as in Spark", "description": "A function of expression indexes."}
    with contextlib.suppress(KeyError):  # another thread was faster
        pc.register_scalar_function(compute, registered_name, summary, types, result)
    return registered_name
