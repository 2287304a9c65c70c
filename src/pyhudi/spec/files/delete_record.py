"""Deletes of a log file as values: which keys, and from which point in the table's order.

Rules: `HoodieDeleteRecord`, `OrderingValues`. The ordinals of `OrderingType` are the branches of the union in the
delete block.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final


class OrderingType(enum.IntEnum):
    """What an ordering value is on disk. A Python number does not tell INT from LONG, and Hudi compares deletes with
    rows only when the types are the same.
    """

    NULL = 0
    BOOLEAN = 1
    INT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    BYTES = 6
    STRING = 7
    DATE = 8
    DECIMAL = 9
    TIME = 10
    TIMESTAMP = 11
    SEVERAL = 12


class _Marker(enum.IntEnum):
    """A number that is known by identity, in other processes too."""

    COMMIT_TIME_DELETE = 0


#: The ordering value of a delete that counts from its commit on, whatever the rows' ordering values: on disk INT 0.
#: It equals 0; compare with `is` to tell it from a delete whose column of another type happens to hold 0.
COMMIT_TIME_DELETE: Final = _Marker.COMMIT_TIME_DELETE


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """The deletes of one block, column by column, in their order on disk.

    An ordering value is None, bool, int, float, bytes, str, `date`, `time`, `Decimal` or `datetime` (UTC, microseconds),
    a tuple of those when the table orders by several fields, or `COMMIT_TIME_DELETE`.
    """

    keys: tuple[str, ...]
    partition_paths: tuple[str | None, ...]
    ordering: tuple[object, ...]
