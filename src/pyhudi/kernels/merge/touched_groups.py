"""Which row groups of a base file a merge changes: those that hold a key of the incoming rows.

Where the rows of the keys are known, from the index or from a search before, no key is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.stored_groups import StoredGroups
from pyhudi.kernels.keys.key_answers import recall
from pyhudi.kernels.merge.incoming_positions import IncomingPositions

#: So many keys of a row group are read first: of one that changes they hold some of the keys, mostly.
_FIRST_KEYS: Final = 1 << 16
#: Copying pays from this share of a file's rows on.
_COPIED_SHARE: Final = 0.25
#: After so many row groups that are all changed, the others are taken to be changed too; after fewer with many keys for each row group.
_PROBED: Final = 4
_PROBED_BY_MANY: Final = 2
_MANY: Final = 100


def unchanged_groups(
    stored: StoredGroups, keys: pa.StringArray, positions: IncomingPositions, *, reads_keys: bool
) -> Mapping[int, pa.ChunkedArray | None]:
    """Return the row groups that hold none of some distinct keys; none where copying them does not pay.

    Args:
        stored: the row groups.
        keys: the keys of the incoming rows.
        positions: their rows, as far as they are known.
        reads_keys: return the keys that each row group holds, too; else None for some or all.
    """
    rows = None if reads_keys else _known_rows(stored, keys, positions)
    unchanged = _probed_groups(stored, keys) if rows is None else _known_groups(stored, rows)
    copied = sum(stored.rows[number] for number in unchanged)
    return unchanged if copied >= _COPIED_SHARE * sum(stored.rows) else {}


def _known_rows(stored: StoredGroups, keys: pa.StringArray, positions: IncomingPositions) -> Indices | None:
    """Return the rows that hold one of the keys, ascending; None where some are not known."""
    if positions.are_all:
        return positions.positions
    known = recall(stored.storage, stored.base, keys)
    return None if known is None else known[0]


def _known_groups(stored: StoredGroups, rows: Indices) -> dict[int, None]:
    """Return the row groups in which none of some rows is, ascending numbers of rows of the file."""
    ends = np.cumsum(stored.rows)
    changed = set(np.searchsorted(ends, rows, "right").tolist())
    return dict.fromkeys(number for number in stored.full_groups if number not in changed)


def _probed_groups(stored: StoredGroups, keys: pa.StringArray) -> dict[int, pa.ChunkedArray]:
    """Return the row groups that hold none of some keys, with the keys that they hold.

    The groups are probed in an order that spreads over the file, until it is plain that most of them hold some of the keys.
    """
    full = stored.full_groups
    probed = _PROBED if len(keys) < _MANY * len(full) else _PROBED_BY_MANY
    unchanged: dict[int, pa.ChunkedArray] = {}
    for count, number in enumerate(_spread(full)):
        if count >= probed and not unchanged:
            return {}
        if _holds_some(stored.first_keys(number, _FIRST_KEYS), keys):
            continue
        held = stored.keys(number)
        if not _holds_some(held, keys):
            unchanged[number] = held
    return unchanged


def _holds_some(held: pa.ChunkedArray, keys: pa.StringArray) -> bool:
    return bool(pc.any(pc.is_in(held, value_set=keys), min_count=0).as_py())


def _spread(numbers: list[int]) -> list[int]:
    """Return numbers in an order in which the first few are from all parts of the list."""
    step = max(1, len(numbers) // _PROBED)
    return [number for first in range(step) for number in numbers[first::step]]
