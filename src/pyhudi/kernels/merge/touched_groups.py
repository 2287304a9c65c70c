"""Which row groups of a base file a merge changes: those that hold a key of the incoming rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.base_file.stored_groups import StoredGroups

#: Copying pays from this share of a file's rows on.
_COPIED_SHARE: Final = 0.25
#: After so many row groups that are all changed, the others are taken to be changed too; after fewer with many keys for each row group.
_PROBED: Final = 4
_PROBED_BY_MANY: Final = 2
_MANY: Final = 100


def unchanged_groups(stored: StoredGroups, keys: pa.StringArray) -> Mapping[int, pa.ChunkedArray]:
    """Return the row groups that hold none of some keys, with the keys that they hold; none where copying them does not pay.

    The groups are probed in an order that spreads over the file, until it is plain that most of them hold some of the keys.
    """
    full = stored.full_groups
    probed = _PROBED if len(keys) < _MANY * len(full) else _PROBED_BY_MANY
    unchanged: dict[int, pa.ChunkedArray] = {}
    for count, number in enumerate(_spread(full)):
        if count >= probed and not unchanged:
            return {}
        held = stored.keys(number)
        if not pc.any(pc.is_in(held, value_set=keys), min_count=0).as_py():
            unchanged[number] = held
    copied = sum(stored.rows[number] for number in unchanged)
    return unchanged if copied >= _COPIED_SHARE * sum(stored.rows) else {}


def _spread(numbers: list[int]) -> list[int]:
    """Return numbers in an order in which the first few are from all parts of the list."""
    step = max(1, len(numbers) // _PROBED)
    return [number for first in range(step) for number in numbers[first::step]]
