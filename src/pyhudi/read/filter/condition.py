"""What a filter says of single columns, as far as statistics and indexes can be asked about it.

A condition is a tree of tests. What nobody can decide from statistics is `Unknown`: it may be true and may be false.
Logic is SQL's, with three values: a test of a null is neither true nor false, and a row counts when the whole is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa

#: What holds of a comparison when it does not.
OPPOSITE: Final = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
#: The same comparison with its sides changed.
MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, or (`path` of several names) a field of structs; `type` is the table's."""

    path: tuple[str, ...]
    type: pa.DataType

    @property
    def name(self) -> str:
        """The name as statistics have it: `a` or `a.b`."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of one column with its constant arguments by name, all lower case; `zone` if its result depends on one.

    Example:
        >>> FunctionCall("from_unixtime", Column(("ts",), pa.int64()), pa.string(), (("format", "yyyy-MM-dd"),), "UTC").function
        'from_unixtime'
    """

    function: str
    column: Column
    type: pa.DataType
    options: tuple[tuple[str, str], ...] = ()
    zone: str | None = None


Operand: TypeAlias = Column | FunctionCall


@dataclass(frozen=True, slots=True)
class Compare:
    """`operand symbol value`; symbols are those of `OPPOSITE`, a null value makes it neither true nor false."""

    operand: Operand
    symbol: str
    value: pa.Scalar


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (values)`; `values` holds no null. `knows_all` is False when the list held one: then it is never false."""

    operand: Operand
    values: pa.Array
    knows_all: bool = True


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text of the operand begins with a prefix."""

    operand: Operand
    prefix: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The operand is null; never neither true nor false."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class And:
    """AND."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """OR."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT: what is neither true nor false stays so."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Constant:
    """True, False or (None) neither, whatever the row."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that only rows can tell."""


Condition: TypeAlias = Compare | In | StartsWith | IsNull | And | Or | Not | Constant | Unknown


def operands(condition: Condition) -> Iterator[Operand]:
    """Yield the operands of all tests of a condition, repeated ones too."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from operands(part)
        case Not(part):
            yield from operands(part)
        case Compare() | In() | StartsWith() | IsNull():
            yield condition.operand


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield the conditions all of which must be true for the whole to be."""
    if isinstance(condition, And):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition
