"""Which columns of the table the queries of a validator name, so that no others are read for them.

It errs towards reading: what is not a plain query over names of the table's columns needs all of them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from pyhudi.write.options.validators import TABLE_NAME

_STAND_IN: Final = "pyhudi_rows"
#: Everything that may be in a query over named columns; another node may name columns in a way of its own, as PIVOT does.
_KNOWN_NODES: Final = frozenset(
    {"Identifier", "Literal", "Null", "Boolean", "DataType", "Alias", "Paren"}
    | {"From", "Where", "Group", "Having", "Order", "Ordered", "Limit", "Distinct"}
    | {"Not", "And", "Or", "EQ", "NEQ", "NullSafeEQ", "NullSafeNEQ", "LT", "LTE", "GT", "GTE", "Is", "In", "Between", "Like", "ILike"}
    | {"Add", "Sub", "Mul", "Div", "Mod", "Neg", "Case", "If", "Cast", "TryCast", "Coalesce"}
    | {"Abs", "Round", "Floor", "Ceil", "Lower", "Upper", "Length", "Concat"}
    | {"Count", "CountIf", "Sum", "Avg", "Min", "Max"}
)
_DIALECT: Final = "spark"


def named_columns(queries: Iterable[str], names: Collection[str]) -> frozenset[str] | None:
    """Return those of the table's columns that queries name, None where they may need any.

    Example:
        >>> sorted(named_columns(["SELECT count(*) FROM <TABLE_NAME> WHERE Fare < 0 OR id IS NULL"], ["id", "fare", "city"]))
        ['fare', 'id']
        >>> named_columns(["SELECT * FROM <TABLE_NAME>"], ["id"]) is None
        True
    """
    of_each = [_of_query(query, {name.lower(): name for name in names}) for query in queries]
    return None if None in of_each else frozenset(name for columns in of_each for name in columns or ())


def _of_query(query: str, names: dict[str, str]) -> frozenset[str] | None:
    sqlglot = importlib.import_module("sqlglot")  # takes tenths of a second
    text = query.replace(TABLE_NAME, _STAND_IN)
    if re.search(r"[\"`{$]", text):
        return None  # names, or strings: the engines differ
    try:
        tree = sqlglot.parse_one(text, dialect=_DIALECT)
    except sqlglot.errors.SqlglotError:
        return None
    return frozenset(_names(tree, names)) if all(_is_plain(node, names) for node in tree.walk()) else None


def _is_plain(node: Any, names: dict[str, str]) -> bool:
    match type(node).__name__:
        case "Star":
            return type(node.parent).__name__ == "Count"
        case "Column":
            return str(node.name).lower() in names and str(node.table).lower() not in names  # which may be a struct
        case "TableAlias":
            return not node.args.get("columns")
        case "Select":
            return node.parent is None and node.args.get("from_", node.args.get("from")) is not None and not node.args.get("joins")
        case "Table":
            return str(node.name) == _STAND_IN
        case kind:
            return kind in _KNOWN_NODES


def _names(tree: Any, names: dict[str, str]) -> Iterator[str]:
    return (names[str(node.name).lower()] for node in tree.walk() if type(node).__name__ == "Column")
