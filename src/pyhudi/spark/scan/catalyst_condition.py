"""Spark's data filters as a condition that statistics and indexes can be asked about.

Spark's optimizer has done the hard part: literals have the type of their column, casts around columns are removed where they can
be, NOT is in front of few things. A filter comes over as one JSON text; a second look into the JVM is needed only for
timestamps, whose text depends on a time zone, and for long lists of values, which the text leaves out. What is not known is
`Unknown`: it rules nothing out.
"""

from __future__ import annotations

import json
import logging
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as pt
from py4j.protocol import Py4JError

from pyhudi.errors import UnsupportedError
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
    Or,
    StartsWith,
    Unknown,
)
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.spark_types import spark_type

_log = logging.getLogger(__name__)

_COMPARISONS: Final = {"EqualTo": "=", "LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">", "GreaterThanOrEqual": ">="}
#: Functions of one column, with the names of their constant arguments as Hudi's index definitions have them.
_FUNCTIONS: Final = {
    "Lower": ("lower", ()),
    "Upper": ("upper", ()),
    "Length": ("length", ()),
    "Abs": ("abs", ()),
    "StringTrim": ("trim", ()),
    "StringTrimLeft": ("ltrim", ()),
    "StringTrimRight": ("rtrim", ()),
    "Substring": ("substring", ("pos", "len")),
    "DateFormatClass": ("date_format", ("format",)),
    "FromUnixTime": ("from_unixtime", ("format",)),
    "DateAdd": ("date_add", ("days",)),
    "DateSub": ("date_sub", ("days",)),
    "Year": ("year", ()),
    "Month": ("month", ()),
    "DayOfMonth": ("day", ()),
    "Hour": ("hour", ()),
}


def condition_of(filters: JavaObject, schema: pa.Schema) -> Condition:
    """Return what a Scala Seq of resolved filters says of the columns of a table, all of them together.

    Args:
        filters: Catalyst expressions, as `FileIndex.listFiles` gets them.
        schema: the columns that may be tested; of others nothing is known.
    """
    return And(tuple(_condition(one, schema) for one in jvm.items_of(filters)))


def _condition(expression: JavaObject, schema: pa.Schema) -> Condition:
    try:
        return _Translation(expression, schema).condition()
    except (Py4JError, ValueError, KeyError, IndexError, ArithmeticError, pa.ArrowException) as error:
        _log.debug("a filter of Spark is not understood, it rules out no files: %s", error)
        return Unknown()


class _Node:
    """One expression of a tree, with the way to it from the root: places among the children."""

    __slots__ = ("children", "fields", "kind", "way")

    def __init__(self, nodes: list[dict[str, Any]], way: tuple[int, ...]) -> None:
        self.fields = nodes.pop(0)
        self.kind = str(self.fields["class"]).rpartition(".")[2]
        self.way = way
        self.children = [_Node(nodes, (*way, index)) for index in range(int(self.fields["num-children"]))]


class _Translation:
    """Of one filter."""

    def __init__(self, expression: JavaObject, schema: pa.Schema) -> None:
        self._expression = expression
        self._schema = schema
        self._root = _Node(json.loads(expression.toJSON()), ())

    def condition(self) -> Condition:
        return self._of(self._root)

    def _of(self, node: _Node) -> Condition:
        match node.kind:
            case "And":
                return And(tuple(map(self._of, node.children)))
            case "Or":
                return Or(tuple(map(self._of, node.children)))
            case "Not":
                return Not(self._of(node.children[0]))
            case "IsNull" | "IsNotNull":
                operand = self._operand(node.children[0])
                if operand is None:
                    return Unknown()
                return IsNull(operand) if node.kind == "IsNull" else Not(IsNull(operand))
            case "Literal" if node.fields["dataType"] == "boolean":
                return Constant({"true": True, "false": False}.get(str(node.fields["value"])))
            case "AttributeReference":
                operand = self._operand(node)
                is_flag = operand is not None and pt.is_boolean(operand.type)
                return Compare(operand, "=", pa.scalar(True)) if operand is not None and is_flag else Unknown()
        return self._test(node)

    def _test(self, node: _Node) -> Condition:
        if node.kind in _COMPARISONS or node.kind == "EqualNullSafe":
            return self._comparison(node)
        if node.kind == "In" and (operand := self._operand(node.children[0])) is not None:
            return self._among(operand, [self._value(child, operand.type) for child in node.children[1:]])
        if node.kind == "InSet" and (operand := self._operand(node.children[0])) is not None:
            return self._among(operand, self._set(node, operand.type))
        if node.kind == "StartsWith" and (operand := self._operand(node.children[0])) is not None:
            prefix = self._value(node.children[1], pa.string())
            return StartsWith(operand, prefix.as_py()) if prefix is not None and prefix.is_valid else Unknown()
        return Unknown()

    def _comparison(self, node: _Node) -> Condition:
        left, right = node.children
        symbol = _COMPARISONS.get(node.kind, "=")
        if left.kind == "Literal":
            left, right, symbol = right, left, MIRRORED[symbol]
        operand = self._operand(left)
        value = None if operand is None else self._value(right, operand.type)
        if operand is None or value is None:
            return Unknown()
        if node.kind != "EqualNullSafe":
            return Compare(operand, symbol, value)
        return And((Compare(operand, "=", value), Not(IsNull(operand)))) if value.is_valid else IsNull(operand)

    def _among(self, operand: Operand, values: list[pa.Scalar | None] | None) -> Condition:
        if values is None or any(value is None for value in values):
            return Unknown()
        known = [value.as_py() for value in values if value is not None and value.is_valid]
        return In(operand, pa.array(known, operand.type), knows_all=len(known) == len(values))

    def _operand(self, node: _Node) -> Operand | None:
        """Return the column, field or call of a function that an expression is; None when it is anything else."""
        if node.kind in ("AttributeReference", "GetStructField"):
            return self._column(node)
        if node.kind not in _FUNCTIONS:
            return None
        function, names = _FUNCTIONS[node.kind]
        inner, zone = node.children[0], node.fields.get("timeZoneId")
        if inner.kind == "Cast" and function in ("year", "month", "day") and inner.fields["dataType"] == "date":
            inner, zone = inner.children[0], inner.fields.get("timeZoneId")
        column = self._column(inner)
        arguments = [child.fields.get("value") for child in node.children[1:]]
        if column is None or len(arguments) != len(names) or any(child.kind != "Literal" for child in node.children[1:]):
            return None
        options = tuple(zip(names, map(str, arguments), strict=True))
        return FunctionCall(function, column, _result_type(function, column.type), options, None if zone is None else str(zone))

    def _column(self, node: _Node) -> Column | None:
        path: list[str] = []
        while node.kind == "GetStructField":
            child = node.children[0]
            struct = self._data_type(child)
            if not isinstance(struct, dict):
                return None
            path.insert(0, struct["fields"][int(node.fields["ordinal"])]["name"])
            node = child
        if node.kind != "AttributeReference" or node.fields["name"] not in self._schema.names:
            return None
        kind = self._schema.field(node.fields["name"]).type
        for name in path:
            if not pt.is_struct(kind) or kind.get_field_index(name) < 0:
                return None
            kind = kind.field(name).type
        return Column((node.fields["name"], *path), kind)

    def _data_type(self, node: _Node) -> Any:
        if node.kind == "GetStructField":
            outer = self._data_type(node.children[0])
            return outer["fields"][int(node.fields["ordinal"])]["type"] if isinstance(outer, dict) else None
        return node.fields.get("dataType")

    def _value(self, node: _Node, kind: pa.DataType) -> pa.Scalar | None:
        """Return a literal of just this type; None when it is none."""
        if node.kind != "Literal" or not _is_same(node.fields["dataType"], kind):
            return None
        text = node.fields["value"]
        if text is None:
            return pa.scalar(None, kind)
        if pt.is_date(kind) or pt.is_timestamp(kind):
            return _scalar(self._in_jvm(node).value(), kind)
        return _scalar(text, kind)

    def _set(self, node: _Node, kind: pa.DataType) -> list[pa.Scalar | None] | None:
        literals = self._in_jvm(node).hset()
        if literals.contains(None) or pt.is_binary(kind):
            return None
        strings = literals.mkString("\0").split("\0")
        return [_scalar(text, kind) for text in strings] if len(strings) == literals.size() else None

    def _in_jvm(self, node: _Node) -> JavaObject:
        result = self._expression
        for index in node.way:
            result = result.children().apply(index)
        return result


def _is_same(spark: Any, kind: pa.DataType) -> bool:
    """Tell whether a literal has just the type in which Spark shows a column, and the bounds of the column are of that type, too."""
    if pt.is_time(kind) or pt.is_nested(kind):
        return False
    try:
        return bool(spark_type(kind, "").jsonValue() == spark)
    except UnsupportedError:
        return False


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """Return a literal from its text, or from the number that Spark has for it: days, microseconds."""
    if pt.is_boolean(kind):
        return pa.scalar(value == "true")
    if pt.is_integer(kind):
        return pa.scalar(int(value), kind)
    if pt.is_floating(kind):
        return pa.scalar(float(value), kind)
    if pt.is_decimal(kind):
        return pa.scalar(Decimal(value), kind)
    if pt.is_string(kind):
        return pa.scalar(str(value))
    if pt.is_date32(kind):
        return pa.scalar(int(value), pa.int32()).cast(kind)
    return pa.scalar(int(value), pa.timestamp("us", kind.tz)) if pt.is_timestamp(kind) else None


def _result_type(function: str, column: pa.DataType) -> pa.DataType:
    if function in ("length", "year", "month", "day", "hour"):
        return pa.int32()
    return column if function in ("abs", "date_add", "date_sub") else pa.string()
