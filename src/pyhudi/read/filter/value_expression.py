"""The tree of a SQL value -> a pyarrow expression: what filters compare, and what `HudiTable.update` and `HudiTable.merge` assign.

Columns, literals, `+ - * / % ||`, DIV, CASE, IF, CAST and functions. Rules are those of Spark in ANSI mode: `/` gives a double, integers
that overflow and divisions by zero are errors, a null operand gives null. All operands are computed for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.types as pt
from sqlglot import exp

from pyhudi.errors import UsageError, did_you_mean
from pyhudi.read.filter.condition import Column, FunctionCall
from pyhudi.read.filter.filter_functions import NAMES, call_of, rows_of
from pyhudi.read.filter.literals import Literal, timestamp_of
from pyhudi.read.filter.sql_tree import SqlText

_Function = Callable[..., pc.Expression]
_HALF_UP: Final = "half_towards_infinity"

#: Functions by name: least and greatest number of arguments, and what they are in Arrow.
_FUNCTIONS: Final[dict[str, tuple[int, int, _Function]]] = {
    "abs": (1, 1, pc.abs_checked),
    "ceil": (1, 1, pc.ceil),
    "coalesce": (1, 99, pc.coalesce),
    "concat": (1, 99, lambda *parts: pc.binary_join_element_wise(*parts, "", null_handling="emit_null")),
    "floor": (1, 1, pc.floor),
    "greatest": (2, 99, pc.max_element_wise),
    "ifnull": (2, 2, pc.coalesce),
    "least": (2, 99, pc.min_element_wise),
    "length": (1, 1, pc.utf8_length),
    "lower": (1, 1, pc.utf8_lower),
    "ltrim": (1, 1, lambda text: pc.utf8_ltrim(text, " ")),
    "nullif": (2, 2, lambda value, other: pc.if_else(pc.coalesce(value == other, pc.scalar(False)), None, value)),
    "nvl": (2, 2, pc.coalesce),
    "round": (1, 1, lambda value: pc.round(value, round_mode=_HALF_UP)),
    "rtrim": (1, 1, lambda text: pc.utf8_rtrim(text, " ")),
    "trim": (1, 1, lambda text: pc.utf8_trim(text, " ")),
    "upper": (1, 1, pc.utf8_upper),
}
_TYPES: Final[dict[str, pa.DataType]] = {
    "BOOLEAN": pa.bool_(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "TEXT": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
}
_TYPE_NAMES: Final = "BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP"
_MOST_DIGITS: Final = 38
#: What errors call a value that is no column.
_COMPUTED: Final = "expression"


class ValueTranslator:
    """Translates the values of one text."""

    def __init__(self, sql: SqlText, schema: pa.Schema, ambiguous: Collection[str] = ()) -> None:
        self._sql, self._schema, self._ambiguous = sql, schema, ambiguous

    def value(self, node: exp.Expr) -> pc.Expression:
        """Return the expression of a value.

        Raises:
            UsageError: it is nothing that is served.
        """
        match node:
            case exp.Paren():
                return self.value(node.this)
            case exp.Column() | exp.Dot():
                return pc.field(*self.column(node).path)
            case exp.Literal() | exp.Null() | exp.Boolean():
                return pc.scalar(self.literal(node))
            case exp.Neg():
                value = self.literal(node)
                return pc.negate_checked(self.value(node.this)) if value is None else pc.scalar(value)
            case exp.Cast():
                return self._cast(node)
            case exp.Case() | exp.If():
                return self._case(node)
            case exp.Anonymous():
                return self._call(node)
            case exp.Binary():
                return self._binary(node)
        return self._condition(node)

    def literal(self, node: exp.Expr) -> Literal:
        """Return the value of a literal, text for dates and timestamps too; None for NULL and for what is no literal (`is_literal`)."""
        match node:
            case exp.Literal(is_string=True):
                return self._sql.string(node)
            case exp.Literal():
                return self._sql.number(node)
            case exp.Boolean():
                return bool(node.this)
            case exp.Neg(this=exp.Literal(is_string=False)):
                return -self._sql.number(node.this)
            case exp.Cast() if is_time_literal(self._sql, node):
                return self._sql.string(node.this)
        return None

    def column(self, node: exp.Expr) -> Column:
        """Return a column, or a field of a struct.

        Raises:
            UsageError: there is none of the name, or two.
        """
        parts = _name_parts(node)
        if parts is None:
            raise self._sql.error("needs a column", node)
        names = {name.lower(): name for name in self._schema.names}
        first = parts[0]
        if first.lower() not in names and first in self._ambiguous:
            raise self._sql.error(f"names the column '{first}' of both sides: write source.{first} or target.{first}", node)
        if first.lower() not in names:
            hint = did_you_mean(first, self._schema.names)
            raise self._sql.error(f"names the column '{first}', which the table does not have", node, hint)
        path = [names[first.lower()]]
        kind = self._schema.field(path[0]).type
        for part in parts[1:]:
            if not pt.is_struct(kind) or kind.get_field_index(part) < 0:
                raise self._sql.error(f"names '{'.'.join(parts)}', but '{part}' is no field there", node)
            kind = kind.field(part).type
            path.append(part)
        return Column(tuple(path), kind)

    def function_call(self, node: exp.Anonymous) -> FunctionCall | None:
        """Return the call of a function of one column that indexes know, else None.

        Raises:
            UsageError: it takes other arguments, or no column of the type.
        """
        if _name_parts(node.expressions[0] if node.expressions else None) is None or not self._takes_literals(node):
            return None
        return self._call_on(node, self.column(node.expressions[0]))

    def _takes_literals(self, node: exp.Anonymous) -> bool:
        """Tell whether a function is one of those of indexes, whose arguments but the first are literals."""
        return str(node.this).lower() in NAMES and all(is_literal(self._sql, one) for one in node.expressions[1:])

    def _call_on(self, node: exp.Anonymous, column: Column) -> FunctionCall:
        try:
            return call_of(str(node.this), column, [self.literal(one) for one in node.expressions[1:]])
        except UsageError as error:
            raise self._sql.error(reason_of(error), node) from None

    def type_of(self, value: pc.Expression, node: exp.Expr) -> pa.DataType:
        """Return the type of an expression over the columns.

        Raises:
            UsageError: Arrow has no such operation on these types.
        """
        empty = pa.schema([field.with_nullable(True) for field in self._schema]).empty_table()
        try:
            return ds.dataset(empty).to_table(columns={"value": value}, use_threads=False).schema.field(0).type
        except (pa.ArrowException, KeyError, TypeError) as error:
            raise self._sql.error(
                f"has an operation that the types of its operands do not have ({str(error).splitlines()[0]})", node
            ) from None

    def _condition(self, node: exp.Expr) -> pc.Expression:
        """Return the expression of a condition; translators of conditions do."""
        raise self._sql.error(f"has {type(node).__name__.upper()}, which is not served", node)

    def _binary(self, node: exp.Binary) -> pc.Expression:
        if not isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod | exp.DPipe):
            return self._condition(node)
        left, right = self.value(node.this), self.value(node.expression)
        match node:
            case exp.Add():
                return pc.add_checked(left, right)
            case exp.Sub():
                return pc.subtract_checked(left, right)
            case exp.Mul():
                return pc.multiply_checked(left, right)
            case exp.Div():
                return pc.divide_checked(left.cast(pa.float64()), right.cast(pa.float64()))
            case exp.IntDiv():
                return pc.divide_checked(left.cast(pa.int64()), right.cast(pa.int64()))
            case exp.Mod():
                # The remainder has the sign of the dividend, as in Spark: Arrow divides whole numbers towards zero.
                quotient = pc.divide_checked(left, right)
                quotient = quotient if pt.is_integer(self.type_of(quotient, node)) else pc.trunc(quotient)
                return pc.subtract_checked(left, pc.multiply_checked(quotient, right))
        return pc.binary_join_element_wise(left, right, "", null_handling="emit_null")

    def _case(self, node: exp.Case | exp.If) -> pc.Expression:
        branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
        default = node.args.get("false") if isinstance(node, exp.If) else node.args.get("default")
        compared = None if isinstance(node, exp.If) else node.this
        if not branches:
            raise self._sql.error("has CASE without WHEN", node)
        result = pc.scalar(None) if default is None else self.value(default)
        for branch in reversed(branches):
            test = branch.this if compared is None else exp.EQ(this=compared, expression=branch.this)
            result = pc.if_else(pc.coalesce(self._condition(test), pc.scalar(False)), self.value(branch.args["true"]), result)
        return result

    def _call(self, node: exp.Anonymous) -> pc.Expression:
        name = str(node.this)
        if node.expressions and self._takes_literals(node):
            value = self.value(node.expressions[0])
            kind = self.type_of(value, node)
            call = self.function_call(node)
            return rows_of(self._call_on(node, Column((_COMPUTED,), kind)), value) if call is None else rows_of(call)
        if name.lower() == "round" and len(node.expressions) > 1:
            return self._round(node)
        if name.lower() not in _FUNCTIONS:
            known = {*_FUNCTIONS, *NAMES}
            hint = did_you_mean(name, known)
            raise self._sql.error(f"calls '{name}', which is not served; {', '.join(sorted(known))} are", node, hint)
        least, most, function = _FUNCTIONS[name.lower()]
        arguments: Sequence[exp.Expr] = node.expressions
        if not least <= len(arguments) <= most:
            raise self._sql.error(f"calls {name} with {len(arguments)} arguments; it takes {least} to {most}", node)
        return function(*map(self.value, arguments))

    def _round(self, node: exp.Anonymous) -> pc.Expression:
        value, *others = node.expressions
        digits = self.literal(others[0]) if len(others) == 1 else None
        if not isinstance(digits, int) or isinstance(digits, bool):
            raise self._sql.error("calls round with more than a value and a whole number of digits", node)
        return pc.round(self.value(value), ndigits=digits, round_mode=_HALF_UP)

    def _cast(self, node: exp.Cast) -> pc.Expression:
        kind = self._cast_type(node)
        is_text = isinstance(node.this, exp.Literal) and node.this.is_string
        if is_time_literal(self._sql, node) or (is_text and pt.is_timestamp(kind)):
            return pc.scalar(self._time(node, kind))
        value = self.value(node.this)
        given = self.type_of(value, node)
        if pt.is_integer(kind) and (pt.is_floating(given) or pt.is_decimal(given)):
            value = pc.trunc(value)
        if pt.is_string(kind) and (pt.is_floating(given) or pt.is_timestamp(given)):
            raise self._sql.error(f"casts {given} to a string, which is not served: the text would not be that of Spark", node)
        if pt.is_decimal(kind) and pt.is_integer(given):
            value = value.cast(pa.decimal128(_MOST_DIGITS, kind.scale))  # Arrow asks for room for every integer of the type
        if pt.is_timestamp(kind) and pt.is_string(given):
            value = _with_offset(value)
        return value if given == kind else value.cast(kind)

    def _cast_type(self, node: exp.Cast) -> pa.DataType:
        requested = node.args["to"]
        name = str(getattr(requested.this, "value", requested.this)).upper()
        if name == "DECIMAL":
            precision, scale = ([int(one.name) for one in requested.expressions] + [0, 0])[:2] if requested.expressions else (10, 0)
            if 0 < precision <= _MOST_DIGITS and 0 <= scale <= precision:
                return pa.decimal128(precision, scale)
        if name not in _TYPES or requested.expressions:
            raise self._sql.error(f"casts to a type that is none of {_TYPE_NAMES}", node)
        return _TYPES[name]

    def _time(self, node: exp.Cast, kind: pa.DataType) -> pa.Scalar:
        text = self._sql.string(node.this)
        try:
            return timestamp_of(text, kind) if pt.is_timestamp(kind) else pa.scalar(text).cast(kind)
        except pa.ArrowException as error:
            raise self._sql.error(f"has {text!r}, which is no {kind} ({error})", node) from None


def _with_offset(strings: pc.Expression) -> pc.Expression:
    """Return dates and times as strings that all have an offset from UTC, without which Arrow takes none; others as they are."""
    times = pc.replace_substring_regex(strings, r"^(\d+-\d\d-\d\d)$", r"\1 00:00")
    return pc.replace_substring_regex(times, r"^(\d+-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?)$", r"\1Z")


def reason_of(error: UsageError) -> str:
    """Return what an error of a filter says, without its subject."""
    return str(error).removeprefix("The filter ").rstrip(".")


def is_time_literal(sql: SqlText, node: exp.Expr) -> bool:
    """Tell whether a cast is written DATE '...' or TIMESTAMP '...'."""
    if not isinstance(node, exp.Cast) or not isinstance(node.this, exp.Literal) or not node.this.is_string:
        return False
    before = sql.text[: node.this.meta["start"]].rstrip().upper()
    return before.endswith(("DATE", "TIMESTAMP")) and not before.endswith("AS")


def is_literal(sql: SqlText, node: exp.Expr) -> bool:
    """Tell whether a node is a constant that takes the type of what it is compared with."""
    if isinstance(node, exp.Neg):
        return isinstance(node.this, exp.Literal) and not node.this.is_string
    return isinstance(node, exp.Literal | exp.Null | exp.Boolean) or is_time_literal(sql, node)


def _name_parts(node: exp.Expr | None) -> list[str] | None:
    """Return the names of a column or a field, None where a node is neither."""
    if isinstance(node, exp.Column):
        parts = [part.name if isinstance(part, exp.Identifier) else None for part in node.parts]
        return None if None in parts else [part for part in parts if part is not None]
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        front = _name_parts(node.this)
        return None if front is None else [*front, node.expression.name]
    return None
