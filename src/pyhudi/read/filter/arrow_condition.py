"""What a pyarrow expression says of single columns, taken from its Substrait form, the only one that can be looked into.

Rules: Substrait specification, `algebra.proto`. An expression that has no such form (patterns, casts of columns) is opaque as a
whole, one of its functions that is not known here as a part.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.codec.hfile.protobuf import read_fields
from pyhudi.errors import CorruptTableError
from pyhudi.read.filter.condition import MIRRORED, And, Column, Compare, Condition, Constant, In, IsNull, Not, Or, Unknown

_WHAT: Final = "a filter in Substrait"
_COMPARISONS: Final = {"equal": "=", "not_equal": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_Message: TypeAlias = Mapping[int, list[int | bytes]]
# Fields of Expression, by their numbers.
_LITERAL, _SELECTION, _FUNCTION, _AMONG = 1, 2, 3, 8
_SIGN: Final = 1 << 63


def condition_of(expression: pc.Expression, schema: pa.Schema) -> Condition:
    """Return what an expression over columns of a schema says; `Unknown` where that cannot be known."""
    try:
        from pyarrow import substrait  # noqa: PLC0415 - a part of Arrow that may be missing, and is not needed for filters of SQL text
    except ImportError:
        return Unknown()
    text = str(expression)
    if "null_matching_behavior=" in text.replace("null_matching_behavior=MATCH}", ""):
        return Unknown()  # Substrait leaves out how a list treats nulls
    try:
        message = _message(bytes(substrait.serialize_expressions([expression], ["f"], schema)))
        return _Reader(message, schema).condition()
    except (
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
        pa.ArrowTypeError,
        KeyError,
        ValueError,
        IndexError,
        struct.error,
        CorruptTableError,
    ):
        return Unknown()


def _message(data: int | bytes) -> _Message:
    result: dict[int, list[int | bytes]] = {}
    for number, value in read_fields(data, _WHAT) if isinstance(data, bytes) else ():
        result.setdefault(number, []).append(value)
    return result


def _number(message: _Message, field: int) -> int:
    value = message.get(field, [0])[0]
    if not isinstance(value, int):
        raise CorruptTableError(f"field {field} of {_WHAT} is no number")
    return value


class _Reader:
    """Reads an `ExtendedExpression`."""

    def __init__(self, message: _Message, schema: pa.Schema) -> None:
        self._schema = schema
        declared = [_message(_message(one)[3][0]) for one in message.get(2, ())]
        self._functions = {_number(one, 2): bytes(one[3][0]).decode() for one in declared if isinstance(one[3][0], bytes)}
        self._root = _message(_message(message[3][0])[1][0])

    def condition(self) -> Condition:
        return self._of(self._root)

    def _of(self, expression: _Message) -> Condition:
        if _FUNCTION in expression:
            return self._function(_message(expression[_FUNCTION][0]))
        if _AMONG in expression:
            return self._among(_message(expression[_AMONG][0]))
        if _LITERAL in expression:
            value = _literal(_message(expression[_LITERAL][0]))
            return Constant(value.as_py()) if value is not None and pt.is_boolean(value.type) else Unknown()
        column = self._column(expression)
        return Compare(column, "=", pa.scalar(True)) if column is not None and pt.is_boolean(column.type) else Unknown()

    def _function(self, call: _Message) -> Condition:
        name = self._functions[_number(call, 1)]
        arguments = [_message(_message(one)[3][0]) for one in call.get(4, ())]
        match name:
            case "and":
                return And(tuple(map(self._of, arguments)))
            case "or":
                return Or(tuple(map(self._of, arguments)))
            case "not":
                return Not(self._of(arguments[0]))
            case "is_null" | "is_not_null":
                column = self._column(arguments[0])
                if column is None:
                    return Unknown()
                return IsNull(column) if name == "is_null" else Not(IsNull(column))
        return self._comparison(_COMPARISONS[name], *arguments) if name in _COMPARISONS else Unknown()

    def _comparison(self, symbol: str, left: _Message, right: _Message) -> Condition:
        if _LITERAL in left:
            left, right, symbol = right, left, MIRRORED[symbol]
        column = self._column(left)
        value = _literal(_message(right[_LITERAL][0])) if _LITERAL in right else None
        return (
            Compare(column, symbol, value) if column is not None and value is not None and _compare(value.type, column.type) else Unknown()
        )

    def _among(self, test: _Message) -> Condition:
        column = self._column(_message(test[1][0]))
        values = [_literal(_message(_message(one)[_LITERAL][0])) for one in test.get(2, ())]
        if column is None or any(value is None or value.type != column.type for value in values):
            return Unknown()
        known = pa.array([value for value in values if value is not None], column.type)
        # For Arrow a null is not among the values, where SQL does not know.
        return And((In(column, known), Not(IsNull(column))))

    def _column(self, expression: _Message) -> Column | None:
        if _SELECTION not in expression:
            return None
        segment = _message(_message(expression[_SELECTION][0])[1][0])
        path: list[str] = []
        kind: pa.DataType = pa.struct(list(self._schema))
        while segment:
            chosen = _message(segment[2][0])
            field = kind.field(_number(chosen, 1))
            path.append(field.name)
            kind = field.type
            segment = _message(chosen[2][0]) if 2 in chosen else {}
        return Column(tuple(path), kind)


def _compare(value: pa.DataType, column: pa.DataType) -> bool:
    if pt.is_timestamp(value) and pt.is_timestamp(column):
        return (value.tz is None) == (column.tz is None)
    return bool(value == column or (pt.is_decimal(value) and pt.is_decimal(column)))


def _literal(message: _Message) -> pa.Scalar | None:
    """Return a literal; None for a null, or one of a type that has no bounds."""
    for number, (value, *_) in message.items():
        if isinstance(value, int):
            if number in _WHOLE:
                signed = value - 2 * _SIGN if value >= _SIGN else value
                return pa.array([signed], pa.int32() if number == 16 else pa.int64()).cast(_WHOLE[number])[0]
            if number == 1:
                return pa.scalar(bool(value))
        elif number == 10:
            return pa.scalar(struct.unpack("<f", value)[0], pa.float32())
        elif number == 11:
            return pa.scalar(struct.unpack("<d", value)[0], pa.float64())
        elif number == 12:
            return pa.scalar(value.decode(), pa.string())
        elif number == 24:
            return _decimal(_message(value))
    return None


_WHOLE: Final = {
    5: pa.int32(),
    7: pa.int64(),
    14: pa.timestamp("us"),
    16: pa.date32(),
    27: pa.timestamp("us", "UTC"),
}


def _decimal(message: _Message) -> pa.Scalar:
    raw = message[1][0]
    scale = _number(message, 3)
    number = int.from_bytes(raw if isinstance(raw, bytes) else b"", "little", signed=True)
    value = Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))
    return pa.scalar(value, pa.decimal128(_number(message, 2) or 38, scale))
