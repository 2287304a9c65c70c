"""SQL text of a value -> a pyarrow expression: what `HudiTable.update` and `HudiTable.merge` assign.

Grammar, on top of that of conditions (`pyhudi.read.filter.predicate`): `+ - * / % ||`, brackets, CASE WHEN condition THEN value ... [ELSE
value] END, CAST(value AS type), IF(condition, value, value), and the functions below. Rules are those of Spark in ANSI mode: `/` gives a
double, integers that overflow and divisions by zero are errors, a null operand gives null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import UsageError, did_you_mean
from pyhudi.read.filter.predicate import PredicateParser
from pyhudi.read.filter.predicate_tokens import number_of
from pyhudi.read.filter.row_predicate import check_condition

Function = Callable[..., pc.Expression]
_HALF_UP: Final = "half_towards_infinity"

#: Functions by name: least and greatest number of arguments, and what they are in Arrow.
_FUNCTIONS: Final[dict[str, tuple[int, int, Function]]] = {
    "abs": (1, 1, pc.abs_checked),
    "ceil": (1, 1, pc.ceil),
    "coalesce": (1, 99, pc.coalesce),
    "concat": (1, 99, lambda *parts: pc.binary_join_element_wise(*parts, "", null_handling="emit_null")),
    "floor": (1, 1, pc.floor),
    "greatest": (2, 99, pc.max_element_wise),
    "least": (2, 99, pc.min_element_wise),
    "length": (1, 1, pc.utf8_length),
    "lower": (1, 1, pc.utf8_lower),
    "ltrim": (1, 1, lambda text: pc.utf8_ltrim(text, " ")),
    "nullif": (2, 2, lambda value, other: pc.if_else(pc.coalesce(value == other, pc.scalar(False)), None, value)),
    "round": (1, 1, lambda value: pc.round(value, round_mode=_HALF_UP)),
    "rtrim": (1, 1, lambda text: pc.utf8_rtrim(text, " ")),
    "trim": (1, 1, lambda text: pc.utf8_trim(text, " ")),
    "upper": (1, 1, pc.utf8_upper),
}
_TYPES: Final[dict[str, pa.DataType]] = {
    "BOOLEAN": pa.bool_(),
    "INT": pa.int32(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
}


def parse_value(text: str, schema: pa.Schema, ambiguous: Collection[str] = ()) -> pc.Expression:
    """Return the expression that a SQL text means over rows of a schema; `ambiguous` are names that need a qualifier, for messages.

    Raises:
        UsageError: the text is no expression, or names an unknown column or function.

    Example:
        >>> str(parse_value("fare * 2", pa.schema({"fare": pa.int64()})))
        'multiply_checked(fare, 2)'
    """
    return _ValueParser(text, schema, ambiguous).parse_value()


class _ValueParser(PredicateParser):
    """Recursive descent over the tokens of one value; conditions inside it are parsed by the base class."""

    what = "expression"

    def parse_value(self) -> pc.Expression:
        parsed = self._sum()
        if self._peek().kind != "end":
            raise self._error("an operator or the end")
        return parsed

    def _sum(self) -> pc.Expression:
        result = self._product()
        while True:
            if self._take("+"):
                result = pc.add_checked(result, self._product())
            elif self._take("-"):
                result = pc.subtract_checked(result, self._product())
            elif self._take("||"):
                result = pc.binary_join_element_wise(result, self._product(), "", null_handling="emit_null")
            elif self._peek().kind == "number" and self._peek().text[0] in "+-":  # `a -1` is a, and the number -1
                result = pc.add_checked(result, self._product())
            else:
                return result

    def _product(self) -> pc.Expression:
        result = self._factor()
        while True:
            if self._take("*"):
                result = pc.multiply_checked(result, self._factor())
            elif self._take("/"):
                divisor = self._factor()
                result = pc.divide_checked(result.cast(pa.float64()), divisor.cast(pa.float64()))
            elif self._take("%"):
                divisor = self._factor()
                # The remainder has the sign of the dividend, as in Spark: Arrow divides whole numbers towards zero.
                result = pc.subtract_checked(result, pc.multiply_checked(pc.divide_checked(result, divisor), divisor))
            else:
                return result

    def _factor(self) -> pc.Expression:
        self._depth += 1
        self._check_depth()
        result = self._operand_value()
        self._depth -= 1
        return result

    def _operand_value(self) -> pc.Expression:
        if self._take("-"):
            return pc.negate_checked(self._factor())
        if self._take("+"):
            return self._factor()
        if self._take("("):
            result = self._sum()
            self._expect(")")
            return result
        if self._take_word("CASE"):
            return self._case()
        token = self._peek()
        if self._is_time_literal():
            self._at += 2
            kind = pa.date32() if token.is_word("DATE") else pa.timestamp("us", "UTC")
            return pc.scalar(self._time(str(self._tokens[self._at - 1].value), kind))
        if token.kind in ("number", "text") or token.is_word("NULL", "TRUE", "FALSE"):
            self._at += 1
            return pc.scalar(_constant(token.kind, token.text, token.value))
        following = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        if token.kind == "word" and following.kind == "symbol" and following.text == "(":
            return self._call()
        return pc.field(*self._column().path)

    def _case(self) -> pc.Expression:
        branches: list[tuple[pc.Expression, pc.Expression]] = []
        while self._take_word("WHEN"):
            condition = self._condition()
            self._expect_word("THEN")
            branches.append((condition, self._sum()))
        if not branches:
            raise self._error("WHEN")
        result = self._sum() if self._take_word("ELSE") else pc.scalar(None)
        self._expect_word("END")
        for condition, value in reversed(branches):
            result = pc.if_else(pc.coalesce(condition, pc.scalar(False)), value, result)
        return result

    def _condition(self) -> pc.Expression:
        condition = self._any_of().expression
        check_condition(condition, self._schema)
        return condition

    def _call(self) -> pc.Expression:
        name = str(self._peek().text)
        self._at += 2
        if name.upper() == "CAST":
            return self._cast()
        if name.upper() == "IF":
            condition = self._condition()
            self._expect(",")
            value = self._sum()
            self._expect(",")
            other = self._sum()
            self._expect(")")
            return pc.if_else(pc.coalesce(condition, pc.scalar(False)), value, other)
        if name.lower() not in _FUNCTIONS:
            raise UsageError(f"The expression {self._text!r} calls {name}(), which is not served.{did_you_mean(name, _FUNCTIONS)}")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        least, most, function = _FUNCTIONS[name.lower()]
        if not least <= len(arguments) <= most:
            raise UsageError(f"The expression {self._text!r} gives {name}() {len(arguments)} arguments; it takes {least} to {most}.")
        return function(*arguments)

    def _cast(self) -> pc.Expression:
        value = self._sum()
        self._expect_word("AS")
        name = str(self._peek().text).upper()
        if name not in _TYPES:
            raise self._error(f"one of the types {', '.join(_TYPES)}")
        self._at += 1
        self._expect(")")
        return value.cast(_TYPES[name])

    def _time(self, text: str, kind: pa.DataType) -> pa.Scalar:
        try:
            naive = kind if kind == pa.date32() else pa.timestamp("us")
            value = pa.scalar(text.replace("T", " ") if naive != kind else text).cast(naive)
            return value if naive == kind else pa.scalar(value.value, kind)
        except pa.ArrowException as error:
            raise UsageError(f"The expression {self._text!r} has {text!r}, which is no {kind}: {error}") from None


def _constant(kind: str, text: str, value: object) -> object:
    if kind == "number":
        return number_of(text)
    if kind == "text":
        return value
    return {"NULL": None, "TRUE": True, "FALSE": False}[text.upper()]
