"""Records of statistics with bounds of every type, and counts of every length."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pyhudi.metadata_table.format.record import ColumnStats, RecordType, ValueType

_REALS = [0.0, -0.0, 1.5, -math.inf, math.inf]
_SMALL, _LARGE = [0, -1, 63, 64, -(2**31), 2**31 - 1], [0, -64, -65, 2**40, -(2**63), 2**63 - 1]
BOUNDS: dict[ValueType, list[Any]] = {
    ValueType.BOOLEAN: [False, True],
    ValueType.INT: _SMALL,
    ValueType.DATE: _SMALL,
    ValueType.TIME_MILLIS: _SMALL,
    ValueType.LONG: _LARGE,
    ValueType.TIME_MICROS: _LARGE,
    **{kind: _LARGE for kind in ValueType if "TIMESTAMP" in kind.name},
    ValueType.FLOAT: _REALS,
    ValueType.DOUBLE: [*_REALS, 0.1],
    ValueType.STRING: ["", "oslo", "ø" * 100, "\x00"],
    ValueType.UUID: ["c0000120-0000-0000-0000-000000000000"],
    ValueType.BYTES: [b"", b"\x00\xff" * 70],
    ValueType.FIXED: [b"\x01" * 16],
    ValueType.DECIMAL: [Decimal("0.00"), Decimal("-12.34"), Decimal("99999999999.99")],
}


def random_stats(
    chance: random.Random,
    types: Sequence[RecordType],
    columns: Sequence[str],
    kind: ValueType,
    bound: object,
    index_version: int,
    *,
    names_kind: bool = True,
) -> ColumnStats:
    """Statistics of a file whose least value is `bound`, of type `kind`, which the record names or not; other values are chosen."""
    counts = chance.choices([None, 0, 1, 63, 64, 2**40], k=4)
    return ColumnStats(
        chance.choice(types),
        chance.choice(["", "a.parquet", "ø" * 80]),
        chance.choice(columns),
        kind if names_kind else None,
        bound,
        chance.choice([None, bound]),
        value_count=counts[0],
        null_count=counts[1],
        total_size=counts[2],
        total_uncompressed_size=counts[3],
        is_deleted=chance.random() < 0.2,
        is_tight_bound=chance.random() < 0.5,
        type_info="15,2" if kind is ValueType.DECIMAL else None,
        index_version=index_version,
    )
