"""What searches of base files for record keys have found, for as long as this process may need it again.

A statement looks for the same keys several times: to find the rows that it changes, to find out which of its rows are new, and to find the
row groups that a rewrite cannot copy. A base file never changes under its name, so the first answer is that of the others as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cache import LruCache
from pyhudi.kernels.arrays.array_types import Indices

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

#: Answers about more keys are not cached: what is saved would be less, and the memory more.
_MOST_KEYS: Final = 100_000
_BYTES_MAX: Final = 32 << 20
_FILES_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class _Answer:
    """The rows of a file that hold one of some distinct keys, ascending, and for each the number of its key."""

    keys: pa.StringArray
    rows: Indices
    numbers: Indices


def remember(storage: Storage, file: BaseFile, keys: pa.StringArray, rows: Indices, numbers: Indices) -> None:
    """Cache which rows of a base file hold some keys; the others hold none of them.

    Args:
        storage: the table's storage.
        file: the base file.
        keys: distinct keys.
        rows: the rows, ascending.
        numbers: for each row the number of its key.
    """
    if len(keys) <= _MOST_KEYS and _is_lasting(storage):
        _ANSWERS.put((storage.uri, file.path, file.size), _Answer(keys, rows, numbers))


def recall(storage: Storage, file: BaseFile, keys: pa.StringArray) -> tuple[Indices, Indices] | None:
    """Return the rows that hold one of some distinct keys, ascending, and for each the number of its key.

    None where the last search of the file in this process did not look for all of these keys.
    """
    answer = _ANSWERS.get((storage.uri, file.path, file.size))
    if answer is None or len(keys) > len(answer.keys):
        return None
    known = pc.index_in(keys, value_set=answer.keys)
    if known.null_count:
        return None
    new_numbers = np.full(len(answer.keys), -1, np.int64)
    new_numbers[known.to_numpy()] = np.arange(len(keys))
    numbers = new_numbers[answer.numbers]
    is_requested = numbers >= 0
    return answer.rows[is_requested], numbers[is_requested]


def _is_lasting(storage: Storage) -> bool:
    """Tell whether the name of a file means the same file for ever; a table in memory may begin again under its name."""
    return not storage.uri.startswith("memory:")


def _bytes_of(answer: _Answer) -> int:
    return int(answer.keys.nbytes) + answer.rows.nbytes + answer.numbers.nbytes


_ANSWERS: LruCache[tuple[str, str, int], _Answer] = LruCache(_BYTES_MAX, _bytes_of, _FILES_MAX)
