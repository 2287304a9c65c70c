"""Where the records of a log block are in the base file, as columns. The form in the header: `pyhudi.codec.log.roaring_positions`."""

from __future__ import annotations

import numpy as np

from pyhudi.codec.log.roaring_positions import decode_positions
from pyhudi.codec.log.roaring_positions import last_position as greatest
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.spec.files.log_block import LogBlock


def has_positions_in(block: LogBlock, base_instant: str | None) -> bool:
    """Tell whether the header of a block says where its records are in the base file of this instant."""
    return block.header.positions is not None and base_instant is not None and block.header.positions_of == base_instant


def positions_of(block: LogBlock) -> Indices:
    """Return the positions, ascending, that the header of a block tells.

    Raises:
        CorruptTableError: they are damaged.
    """
    positions: Indices = np.frombuffer(decode_positions(block.header.positions or ""), np.uint64).astype(np.int64)
    return positions


def last_position(block: LogBlock) -> int:
    """Return the greatest position that the header of a block tells, -1 when there is none.

    Raises:
        CorruptTableError: they are damaged.
    """
    return greatest(block.header.positions or "")
