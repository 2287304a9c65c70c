"""Record positions of a log block: the rows of the base file that its records belong to, as text in the block's header.

Rules: `LogReaderUtils`, the portable format of `Roaring64NavigableMap` (RoaringFormatSpec), base64. CRoaring, by way of
`pyroaring`, reads and writes the bitmap; its bytes are those of Hudi's class (docs/design/0095-record-positions.md).
"""

from __future__ import annotations

import binascii
import operator
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from itertools import islice

from pyroaring import BitMap64

from pyhudi.errors import CorruptTableError, UsageError

#: As many positions fill 64 MiB; a block of more records says how many it has.
MOST_POSITIONS = 8 << 20

_MOST_POSITION = (1 << 63) - 1


def decode_positions(text: str, most: int = MOST_POSITIONS) -> array[int]:
    """Return the positions, ascending, as unsigned 64-bit numbers. The first belongs to the block's first record, and so on.

    Args:
        text: what is in the header.
        most: how many there can be, best the number of the block's records.

    Raises:
        CorruptTableError: the text is no such bitmap, or holds more positions.
    """
    positions: array[int] = _parse(text, most).to_array()
    return positions


def last_position(text: str, most: int = MOST_POSITIONS) -> int:
    """Return the greatest position, -1 when there is none.

    Raises:
        CorruptTableError: the text is no such bitmap, or holds more positions than `most`.
    """
    bitmap = _parse(text, most)
    return bitmap.max() if bitmap else -1


def encode_positions(positions: Sequence[int]) -> str:
    """Return the text of some positions.

    Raises:
        UsageError: they are not ascending, or negative; records without distinct positions are written without any.
    """
    if not all(map(operator.lt, positions, islice(positions, 1, None))) or (positions and positions[0] < 0):
        raise UsageError("record positions must be ascending numbers from 0 on")
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return b64encode(bitmap.serialize()).decode()


def _parse(text: str, most: int) -> BitMap64:
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CorruptTableError("the positions of a log block are not base64") from None
    try:
        bitmap = BitMap64.deserialize(data)
    except (ValueError, IndexError):  # the latter from no bytes at all
        raise CorruptTableError(
            f"the positions of a log block are no Roaring bitmap: its {len(data)} bytes are cut off or damaged"
        ) from None
    if len(bitmap) > most:
        raise CorruptTableError(f"a log block has more positions than the {most} it can have")
    if bitmap and bitmap.max() > _MOST_POSITION:
        raise CorruptTableError("the positions of a log block are negative")
    # Reading stops behind the last bucket; containers keep their kind, so that a whole bitmap is as long again.
    if len(bitmap.serialize()) != len(data):
        raise CorruptTableError("the positions of a log block are followed by bytes that belong to no bitmap")
    return bitmap
