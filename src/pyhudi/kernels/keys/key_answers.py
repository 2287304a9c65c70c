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
    """The rows of a file that hold one of some distinct keys, ascending, and for each the number of its key.

    `key_range`: the least and the greatest key of the file, where its footer tells; no row holds a key outside of it.
    """

    keys: pa.StringArray
    rows: Indices
    numbers: Indices
    key_range: tuple[str, str] | None

    def with_older(self, older: _Answer) -> _Answer:
        """Return an answer about the keys of both; where they would be too many, about those of this one alone."""
        retained = np.flatnonzero(~pc.is_in(older.keys, value_set=self.keys).to_numpy(zero_copy_only=False))
        if len(retained) + len(self.keys) > _MOST_KEYS:
            return self
        new_numbers = np.full(len(older.keys), -1, np.int64)
        new_numbers[retained] = np.arange(len(retained)) + len(self.keys)
        numbers = new_numbers[older.numbers]
        rows = np.concatenate([self.rows, older.rows[numbers >= 0]])
        numbers = np.concatenate([self.numbers, numbers[numbers >= 0]])
        order = np.argsort(rows)
        keys = pa.concat_arrays([self.keys, older.keys.take(pa.array(retained))])
        return _Answer(keys, rows[order], numbers[order], self.key_range or older.key_range)


def remember(
    storage: Storage,
    file: BaseFile,
    keys: pa.StringArray,
    rows: Indices,
    numbers: Indices,
    key_range: tuple[str, str] | None = None,
) -> None:
    """Cache which rows of a base file hold some keys, next to what is known of others; the others of these keys it does not hold.

    Args:
        storage: the table's storage.
        file: the base file.
        keys: distinct keys.
        rows: the rows, ascending.
        numbers: for each row the number of its key.
        key_range: the least and the greatest key of the file, if keys outside of it were left out of `keys`.
    """
    if len(keys) > _MOST_KEYS or not _is_lasting(storage):
        return
    name = storage.uri, file.path, file.size
    answer, older = _Answer(keys, rows, numbers, key_range), _ANSWERS.get(name)
    _ANSWERS.put(name, answer if older is None else answer.with_older(older))


def recall(storage: Storage, file: BaseFile, keys: pa.StringArray) -> tuple[Indices, Indices] | None:
    """Return the rows that hold one of some distinct keys, ascending, and for each the number of its key.

    None where searches of the file in this process did not look for all of these keys.
    """
    answer = _ANSWERS.get((storage.uri, file.path, file.size))
    if answer is None:
        return None
    if answer.key_range is None:
        candidates = np.arange(len(keys))
    else:
        candidates = indices_within(keys, answer.key_range)
        keys = keys.take(pa.array(candidates))
    known = pc.index_in(keys, value_set=answer.keys)
    if known.null_count:
        return None
    new_numbers = np.full(len(answer.keys), -1, np.int64)
    new_numbers[known.to_numpy()] = candidates
    numbers = new_numbers[answer.numbers]
    is_requested = numbers >= 0
    return answer.rows[is_requested], numbers[is_requested]


def indices_within(keys: pa.StringArray, key_range: tuple[str, str]) -> Indices:
    """Return the numbers of the keys that are within a range, ascending."""
    lower, upper = key_range
    return np.flatnonzero(pc.and_(pc.greater_equal(keys, lower), pc.less_equal(keys, upper)).to_numpy(zero_copy_only=False))


def _is_lasting(storage: Storage) -> bool:
    """Tell whether the name of a file means the same file for ever; a table in memory may begin again under its name."""
    return not storage.uri.startswith("memory:")


def _bytes_of(answer: _Answer) -> int:
    return int(answer.keys.nbytes) + answer.rows.nbytes + answer.numbers.nbytes


_ANSWERS: LruCache[tuple[str, str, int], _Answer] = LruCache(_BYTES_MAX, _bytes_of, _FILES_MAX)
