"""The tree of a SQL condition -> a `Filter`: an expression for rows, and a condition for statistics and indexes.

A test of a column, or of a function of one that indexes know, with literals is told to statistics and indexes; every other test is computed
for rows alone. A literal takes the type of what it is compared with. Logic is SQL's, with three values.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from sqlglot import exp

from pyhudi.errors import UsageError
from pyhudi.read.filter.condition import (
    MIRRORED,
    And,
    Column,
    Compare,
    Condition,
    Constant,
    FunctionCall,
    In,
    IsNull,
    Not,
    Operand,
    StartsWith,
    Unknown,
)
from pyhudi.read.filter.filter_functions import rows_of
from pyhudi.read.filter.literals import Literal, compare_literals, members, scalar_of
from pyhudi.read.filter.row_predicate import Filter
from pyhudi.read.filter.value_expression import ValueTranslator, is_literal, reason_of

_SYMBOLS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_COMPARISONS: Final[dict[str, Callable[[pc.Expression, pc.Expression], pc.Expression]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: What `filter` understands; anything else could only be sent back and forth between values and conditions.
_CONDITIONS: Final = (
    exp.And | exp.Or | exp.Not | exp.Boolean | exp.Is | exp.In | exp.Between | exp.Like | exp.Escape | exp.Paren | exp.NullSafeNEQ
)
_VALUES: Final = exp.Column | exp.Dot | exp.Anonymous | exp.Case | exp.If | exp.Cast
#: In a LIKE pattern everything else stands for itself.
_WILD: Final = frozenset("%_\\")
_FALSE: Final = pc.scalar(False)


class ConditionTranslator(ValueTranslator):
    """Translates the conditions of one text."""

    def filter(self, node: exp.Expr) -> Filter:
        """Return the filter of a condition.

        Raises:
            UsageError: it is no condition, or nothing that is served.
        """
        match node:
            case exp.Paren():
                return self.filter(node.this)
            case exp.And() | exp.Or():
                combine = operator.and_ if isinstance(node, exp.And) else operator.or_
                return functools.reduce(combine, map(self.filter, node.flatten()))
            case exp.Not():
                return ~self.filter(node.this)
            case exp.NullSafeNEQ():
                return ~self._comparison("<=>", node.this, node.expression)
            case exp.Boolean():
                return Filter(pc.scalar(bool(node.this)), Constant(bool(node.this)))
            case exp.Is():
                return self._is(node)
            case exp.In():
                return self._in(node)
            case exp.Between():
                return self._between(node)
            case exp.Like() | exp.Escape():
                return self._like(node)
        symbol = _SYMBOLS.get(type(node))
        return self._truth(node) if symbol is None else self._comparison(symbol, node.this, node.expression)

    def _condition(self, node: exp.Expr) -> pc.Expression:
        is_known = isinstance(node, _CONDITIONS | _VALUES) or type(node) in _SYMBOLS
        return self.filter(node).expression if is_known else super()._condition(node)

    def _operand(self, node: exp.Expr) -> tuple[pc.Expression, pa.DataType, Operand | None]:
        """Return a value, its type, and what it is to statistics and indexes, if anything."""
        while isinstance(node, exp.Paren):
            node = node.this
        operand: Operand | None = None
        if isinstance(node, exp.Column | exp.Dot):
            operand = self.column(node)
        elif isinstance(node, exp.Anonymous):
            operand = self.function_call(node)
        if operand is not None:
            return rows_of(operand), operand.type, operand
        value = self.value(node)
        return value, self.type_of(value, node), None

    def _truth(self, node: exp.Expr) -> Filter:
        """Return the filter of a value that is true or false."""
        rows, kind, operand = self._operand(node)
        if not pt.is_boolean(kind):
            raise self._sql.error(f"needs a comparison: this is of type {kind}", node)
        return Filter(rows, Unknown() if operand is None else Compare(operand, "=", pa.scalar(True)))

    def _comparison(self, symbol: str, left: exp.Expr, right: exp.Expr) -> Filter:
        if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple) and symbol in ("=", "<=>"):
            return self._tuples(symbol, left, right)
        if is_literal(self._sql, left) and not is_literal(self._sql, right):
            return self._comparison(MIRRORED.get(symbol, symbol), right, left)
        if is_literal(self._sql, right) and not is_literal(self._sql, left):
            return self._with_literal(symbol, left, right)
        one, other = self.value(left), self.value(right)
        same = one == other if symbol == "<=>" else _COMPARISONS[symbol](one, other)
        self.type_of(same, left)
        return Filter(pc.coalesce(same, one.is_null() & other.is_null()) if symbol == "<=>" else same)

    def _tuples(self, symbol: str, left: exp.Tuple, right: exp.Tuple) -> Filter:
        if len(left.expressions) != len(right.expressions):
            raise self._sql.error(f"compares {len(left.expressions)} values with {len(right.expressions)}", right)
        pairs = zip(left.expressions, right.expressions, strict=True)
        return functools.reduce(operator.and_, (self._comparison(symbol, one, other) for one, other in pairs))

    def _with_literal(self, symbol: str, node: exp.Expr, literal: exp.Expr) -> Filter:
        rows, kind, operand = self._operand(node)
        value = self.literal(literal)
        if symbol != "<=>":
            return self._compare(symbol, rows, kind, operand, value, literal)
        if value is None:
            return _is_null(rows, operand)
        same = self._literals("=", value, kind, literal)
        if isinstance(same, bool):
            return Filter(pc.scalar(same), Constant(same))
        # Never unknown, so that its opposite holds for nulls, too: more than the comparison alone says.
        condition = Unknown() if operand is None else And((Compare(operand, "=", same[1]), Not(IsNull(operand))))
        return Filter(pc.coalesce(rows == same[1], _FALSE), condition)

    def _compare(
        self, symbol: str, rows: pc.Expression, kind: pa.DataType, operand: Operand | None, value: Literal, node: exp.Expr
    ) -> Filter:
        same = self._literals(symbol, value, kind, node)
        if isinstance(same, bool):
            expression = pc.if_else(rows.is_valid(), same, pa.scalar(None, pa.bool_()))
            return Filter(expression, Constant(same) if operand is not None else Unknown())
        symbol, scalar = same
        condition = Unknown() if operand is None else Compare(operand, symbol, scalar)
        return Filter(_COMPARISONS[symbol](rows, pc.scalar(scalar)), condition)

    def _literals(self, symbol: str, value: Literal, kind: pa.DataType, node: exp.Expr) -> tuple[str, pa.Scalar] | bool:
        try:
            return compare_literals(symbol, value, kind)
        except UsageError as error:
            raise self._sql.error(reason_of(error), node) from None

    def _is(self, node: exp.Is) -> Filter:
        if isinstance(node.expression, exp.Null):
            rows, _, operand = self._operand(node.this)
            return _is_null(rows, operand)
        if isinstance(node.expression, exp.Boolean):
            rows = self.filter(node.this).expression
            return Filter(pc.coalesce(rows if node.expression.this else ~rows, _FALSE))
        raise self._sql.error("has IS without NULL, TRUE or FALSE", node.expression)

    def _between(self, node: exp.Between) -> Filter:
        if node.args.get("symmetric"):
            raise self._sql.error("has BETWEEN SYMMETRIC, which is not served", node)
        return self._comparison(">=", node.this, node.args["low"]) & self._comparison("<=", node.this, node.args["high"])

    def _in(self, node: exp.In) -> Filter:
        options = node.expressions
        if not options or any(node.args.get(name) for name in ("query", "unnest", "field")):
            raise self._sql.error("has IN without a list of values; subqueries are not served", node)
        if isinstance(node.this, exp.Tuple) or not all(is_literal(self._sql, one) for one in options):
            return functools.reduce(operator.or_, (self._comparison("=", node.this, one) for one in options))
        rows, kind, operand = self._operand(node.this)
        values = [self.literal(one) for one in options]
        try:
            known = members(values, kind)
        except UsageError as error:
            raise self._sql.error(reason_of(error), options[0]) from None
        # SQL: nothing is known of a null, nor of what is outside a list that holds null.
        unknown = pa.scalar(None, pa.bool_())
        is_member = pc.if_else(rows.is_valid(), rows.isin(known), unknown)
        knows_all = None not in values
        expression = is_member if knows_all else pc.if_else(is_member, is_member, unknown)
        return Filter(expression, Unknown() if operand is None else In(operand, known, knows_all=knows_all))

    def _like(self, node: exp.Like | exp.Escape) -> Filter:
        like, escape = (node.this, node.expression) if isinstance(node, exp.Escape) else (node, None)
        if not isinstance(like, exp.Like):
            raise self._sql.error("has ESCAPE without LIKE", node)
        rows, kind, operand = self._operand(like.this)
        literal = like.expression
        if not isinstance(literal, exp.Literal) or not literal.is_string or not (pt.is_string(kind) or pt.is_large_string(kind)):
            raise self._sql.error("needs a text after LIKE, on a text column", literal)
        pattern = self._sql.string(literal)
        if escape is not None:
            pattern = self._with_backslashes(pattern, escape)
        try:
            pattern = str(scalar_of(pattern, pa.string()))
        except UsageError as error:
            raise self._sql.error(reason_of(error), literal) from None
        matches = Filter(pc.match_like(rows, pattern), Unknown() if operand is None else _prefix_test(operand, pattern))
        return ~matches if like.args.get("negate") else matches

    def _with_backslashes(self, pattern: str, escape: exp.Expr) -> str:
        """Return a pattern whose escape character is the backslash."""
        letter = self._sql.string(escape) if isinstance(escape, exp.Literal) and escape.is_string else ""
        if len(letter) != 1:
            raise self._sql.error("needs one character after ESCAPE", escape)
        result, position = "", 0
        while position < len(pattern):
            one, following = pattern[position], pattern[position + 1 : position + 2]
            if one == letter and following not in ("%", "_", letter):
                raise self._sql.error(f"has an escape in its LIKE pattern that precedes no '%', '_' or '{letter}'", escape)
            if one == letter:
                result, position = f"{result}\\{following}" if following in "%_\\" else f"{result}{following}", position + 1
            else:
                result += "\\\\" if one == "\\" else one
            position += 1
        return result


def _is_null(rows: pc.Expression, operand: Operand | None) -> Filter:
    """Return the test for null; a function is null where its column is, though it may have no result here for other values."""
    if operand is None:
        return Filter(rows.is_null())
    return Filter(rows_of(operand.column if isinstance(operand, FunctionCall) else operand).is_null(), IsNull(operand))


def _prefix_test(operand: Column | FunctionCall, pattern: str) -> Condition:
    """Return what a pattern says of how a text begins."""
    stem = pattern.rstrip("%")
    if _WILD & set(stem):
        return Unknown()
    return Compare(operand, "=", pa.scalar(pattern)) if stem == pattern else StartsWith(operand, stem)
