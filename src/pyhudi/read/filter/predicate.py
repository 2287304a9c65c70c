"""SQL text of a filter -> a pyarrow expression for rows, and a condition for statistics and indexes.

Grammar, keywords without regard to case: AND, OR, NOT, brackets, `= == <> != < <= > >= <=>`, IS [NOT] NULL,
[NOT] IN (...), [NOT] BETWEEN, [NOT] LIKE; columns as `name`, `"name"`, a.b or `a`.`b`, and functions of a column, `lower(name)`;
literals as in Spark SQL: numbers, 'text', TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...'. A literal takes the type of the other side.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import UsageError, did_you_mean
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
from pyhudi.read.filter.filter_functions import call_of, rows_of
from pyhudi.read.filter.literals import Literal, compare_literals, members, scalar_of
from pyhudi.read.filter.predicate_tokens import Token, number_of, tokenize
from pyhudi.read.filter.row_predicate import Filter, check_condition

_COMPARISONS: Final[dict[str, Callable[[pc.Expression, pc.Expression], pc.Expression]]] = {
    "=": operator.eq,
    "==": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ONE_SPELLING: Final = {"==": "=", "<>": "!="}
#: In a LIKE pattern everything else stands for itself.
_WILD: Final = frozenset("%_\\")
_DEEPEST: Final = 200


def parse_predicate(text: str, schema: pa.Schema, ambiguous: Collection[str] = ()) -> Filter:
    """Return the filter that a SQL condition means over rows of this schema; `ambiguous` are names that need a qualifier, for messages.

    Raises:
        UsageError: the text is no condition, names an unknown column, or compares with a value of no such type.

    Example:
        >>> str(parse_predicate("a > 1 AND b IN ('x', 'y')", pa.schema({"a": pa.int64(), "b": pa.string()})).expression)[:7]
        '((a > 1'
    """
    return PredicateParser(text, schema, ambiguous).parse()


class PredicateParser:
    """Recursive descent over the tokens of one condition."""

    #: What the text is, for messages.
    what = "filter"

    def __init__(self, text: str, schema: pa.Schema, ambiguous: Collection[str] = ()) -> None:
        self._text, self._schema, self._ambiguous = text, schema, ambiguous
        self._tokens = tokenize(text)
        self._at = 0
        self._depth = 0

    def parse(self) -> Filter:
        """Return the expression of the whole text."""
        parsed = self._any_of()
        if self._peek().kind != "end":
            raise self._error("AND, OR or the end")
        return parsed

    def _any_of(self) -> Filter:
        self._depth += 1
        self._check_depth()
        parts = [self._all_of()]
        while self._take_word("OR"):
            parts.append(self._all_of())
        self._depth -= 1
        return functools.reduce(operator.or_, parts)

    def _all_of(self) -> Filter:
        parts = [self._negation()]
        while self._take_word("AND"):
            parts.append(self._negation())
        return functools.reduce(operator.and_, parts)

    def _negation(self) -> Filter:
        inverted = False
        while self._take_word("NOT"):
            inverted = not inverted
        parsed = self._primary()
        return ~parsed if inverted else parsed

    def _primary(self) -> Filter:
        if self._take("("):
            parsed = self._any_of()
            self._expect(")")
            return parsed
        token = self._peek()
        if token.kind in ("number", "text") or token.is_word("NULL") or self._is_time_literal():
            return self._literal_first()
        if token.is_word("TRUE", "FALSE"):
            self._at += 1
            return Filter(pc.scalar(token.is_word("TRUE")), Constant(token.is_word("TRUE")))
        return self._of_operand()

    def _literal_first(self) -> Filter:
        value = self._literal()
        symbol = self._comparison()
        return self._compare(MIRRORED.get(symbol, symbol), self._operand(), value)

    def _of_operand(self) -> Filter:
        column = self._operand()
        if self._take_word("IS"):
            inverted = self._take_word("NOT")
            self._expect_word("NULL")
            is_null = _is_null(column)
            return ~is_null if inverted else is_null
        inverted = self._take_word("NOT")
        parsed = self._range_or_pattern(column)
        if parsed is not None:
            return ~parsed if inverted else parsed
        if inverted:
            raise self._error("IN, BETWEEN or LIKE")
        if self._peek().text in (*_COMPARISONS, "<=>"):
            return self._comparison_of(column)
        if pt.is_boolean(column.type):
            return Filter(rows_of(column), Compare(column, "=", pa.scalar(True)))
        raise self._error("a comparison")

    def _range_or_pattern(self, column: Operand) -> Filter | None:
        if self._take_word("IN"):
            return self._membership(column)
        if self._take_word("BETWEEN"):
            low = self._compare(">=", column, self._literal())
            self._expect_word("AND")
            return low & self._compare("<=", column, self._literal())
        if self._take_word("LIKE"):
            token = self._peek()
            if token.kind != "text" or not pt.is_string(column.type):
                raise self._error("a text after LIKE, on a text column")
            self._at += 1
            pattern = str(scalar_of(str(token.value), pa.string()))
            return Filter(pc.match_like(rows_of(column), pattern), _like(column, pattern))
        return None

    def _membership(self, column: Operand) -> Filter:
        self._expect("(")
        values = [self._literal()]
        while self._take(","):
            values.append(self._literal())
        self._expect(")")
        known = members(values, column.type)
        # SQL: nothing is known of a null, nor of what is outside a list that holds null.
        unknown = pa.scalar(None, pa.bool_())
        rows = rows_of(column)
        is_member = pc.if_else(rows.is_valid(), rows.isin(known), unknown)
        if None not in values:
            return Filter(is_member, In(column, known))
        return Filter(pc.if_else(is_member, is_member, unknown), In(column, known, knows_all=False))

    def _comparison_of(self, column: Operand) -> Filter:
        symbol = self._comparison()
        token = self._peek()
        if token.kind == "quoted" or (token.kind == "word" and not token.is_word("NULL", "TRUE", "FALSE") and not self._is_time_literal()):
            if symbol == "<=>":
                raise self._error("a value after <=>")
            return self._of_two(symbol, column, self._operand())
        return self._compare(symbol, column, self._literal())

    def _of_two(self, symbol: str, left: Operand, right: Operand) -> Filter:
        parsed = Filter(_COMPARISONS[symbol](rows_of(left), rows_of(right)))
        check_condition(parsed.expression, self._schema)
        return parsed

    def _compare(self, symbol: str, column: Operand, value: Literal) -> Filter:
        rows = rows_of(column)
        if value is None and symbol == "<=>":
            return _is_null(column)
        same = compare_literals("=" if symbol == "<=>" else symbol, value, column.type)
        if symbol == "<=>":
            if isinstance(same, bool):
                return Filter(pc.scalar(same), Constant(same))
            # Never unknown, so that its opposite holds for nulls, too: more than the comparison alone says.
            condition = And((Compare(column, "=", same[1]), Not(IsNull(column))))
            return Filter(pc.coalesce(rows == same[1], pc.scalar(False)), condition)
        if isinstance(same, bool):
            return Filter(pc.if_else(rows.is_valid(), same, pa.scalar(None, pa.bool_())), Constant(same))
        symbol, scalar = same
        return Filter(_COMPARISONS[symbol](rows, pc.scalar(scalar)), Compare(column, _ONE_SPELLING.get(symbol, symbol), scalar))

    def _comparison(self) -> str:
        symbol = self._peek().text
        if symbol not in (*_COMPARISONS, "<=>"):
            raise self._error("a comparison")
        self._at += 1
        return symbol

    def _operand(self) -> Operand:
        """Return a column, or a function of one."""
        name, following = self._peek(), self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        if name.kind != "word" or following.kind != "symbol" or following.text != "(":
            return self._column()
        self._at += 2
        column = self._column()
        arguments = []
        while self._take(","):
            arguments.append(self._literal())
        self._expect(")")
        return call_of(name.text, column, arguments)

    def _column(self) -> Column:
        parts = [self._name()]
        while self._take("."):
            parts.append(self._name())
        names = {name.lower(): name for name in self._schema.names}
        if parts[0].lower() not in names and parts[0] in self._ambiguous:
            raise UsageError(
                f"The {self.what} {self._text!r} names the column '{parts[0]}' of both sides: write source.{parts[0]} or target.{parts[0]}."
            )
        if parts[0].lower() not in names:
            raise UsageError(
                f"The {self.what} names the column '{parts[0]}', which the table does not have.{did_you_mean(parts[0], self._schema.names)}"
            )
        parts[0] = names[parts[0].lower()]
        kind = self._schema.field(parts[0]).type
        for part in parts[1:]:
            if not pt.is_struct(kind) or kind.get_field_index(part) < 0:
                raise UsageError(f"The {self.what} names '{'.'.join(parts)}', but '{part}' is no field there.")
            kind = kind.field(part).type
        return Column(tuple(parts), kind)

    def _name(self) -> str:
        token = self._peek()
        if token.kind not in ("word", "quoted"):
            raise self._error("a column")
        self._at += 1
        return str(token.value)

    def _is_time_literal(self) -> bool:
        """Tell whether DATE '...' or TIMESTAMP '...' follows; the words alone are columns."""
        return self._peek().is_word("DATE", "TIMESTAMP") and self._tokens[self._at + 1].kind == "text"

    def _literal(self) -> Literal:
        """Return the value of a literal; text for DATE and TIMESTAMP too, since the column gives the type."""
        self._at += self._is_time_literal()
        token = self._peek()
        self._at += 1
        if token.kind == "number":
            return number_of(token.text)
        if token.kind == "text":
            return str(token.value)
        for word, value in (("NULL", None), ("TRUE", True), ("FALSE", False)):
            if token.is_word(word):
                return value
        self._at -= 1
        raise self._error("a value")

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _take(self, symbol: str) -> bool:
        result = self._peek().kind == "symbol" and self._peek().text == symbol
        self._at += result
        return result

    def _take_word(self, word: str) -> bool:
        is_match = self._peek().is_word(word)
        self._at += is_match
        return is_match

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            raise self._error(f"'{symbol}'")

    def _expect_word(self, word: str) -> None:
        if not self._take_word(word):
            raise self._error(word)

    def _check_depth(self) -> None:
        if self._depth > _DEEPEST:
            raise UsageError(f"The {self.what} nests brackets and NOT deeper than {_DEEPEST} levels.")

    def _error(self, expected: str) -> UsageError:
        token = self._peek()
        actual = "its end" if token.kind == "end" else f"'{token.text}'"
        return UsageError(f"The {self.what} {self._text!r} has {actual} at character {token.start + 1} where {expected} should be.")


def _is_null(operand: Operand) -> Filter:
    """Return the test for null; a function is null where its column is, though it may have no result here for other values."""
    return Filter(rows_of(operand.column if isinstance(operand, FunctionCall) else operand).is_null(), IsNull(operand))


def _like(column: Operand, pattern: str) -> Condition:
    """Return what a pattern says of how a text begins."""
    stem = pattern.rstrip("%")
    if _WILD & set(stem):
        return Unknown()
    return Compare(column, "=", pa.scalar(pattern)) if stem == pattern else StartsWith(column, stem)
