"""Finds the rows of base files that hold a record key, by reading nothing but key columns.

Rules: `HoodieSimpleIndex`, with the key range and bloom filter of the footers (`HoodieKeyLookupHandle`) to leave files out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.key_bytes import sharing_a_hash
from pyhudi.kernels.base_file.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.base_file.bloom_probe import may_hold_keys
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_fragment, open_pages
from pyhudi.kernels.keys.key_answers import indices_within, recall, remember
from pyhudi.kernels.keys.key_kernels import record_keys
from pyhudi.kernels.keys.key_pages import rows_by_pages
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

#: What `find_keys` says of a key that is in several rows.
SEVERAL = -1
_ABSENT = -2
#: A table of the wanted keys is made for each search: few searches, and yet not all keys of a large file at once.
_ROWS_AT_ONCE = 1 << 21
#: Of so many keys the distinct ones are found before the footer is asked, and what is found is cached.
_ENCODED_FIRST = 100_000
#: Java orders text by UTF-16 units, Parquet by bytes; below this character both orders are one.
_FIRST_DIFFERENT = "\ud800"


@dataclass(frozen=True, slots=True)
class Precheck:
    """What of a footer is asked before keys are read: the range of the keys, and the bloom filter."""

    ranges: bool = True
    bloom: bool = False


RANGES = Precheck()


def find_keys(
    storage: Storage, file: BaseFile, keys: pa.StringArray, precheck: Precheck = RANGES, virtual_key: KeyFields | None = None
) -> pa.Int64Array:
    """Return, for each key, the row of the base file that holds it, `SEVERAL` when more than one does, null when none does.

    A file that by its footer holds no wanted key is left out. A key may be asked for more than once. `virtual_key` is as in `rows_of_keys`.

    Raises:
        CorruptTableError: the file is damaged, missing, or has no record keys.
    """
    if not len(keys):
        return pa.nulls(0, pa.int64())
    if len(keys) <= _ENCODED_FIRST:
        encoded = keys.dictionary_encode()
        rows, numbers = rows_of_keys(storage, file, encoded.dictionary, virtual_key, precheck)
        result = _row_by_key(rows, numbers, len(encoded.dictionary))[encoded.indices.to_numpy()]
        return pa.array(result, mask=result == _ABSENT)
    with open_fragment(storage, file.path) as fragment:
        footer = footer_entries(fragment, storage, file.path)
        candidates = _within_range(footer, keys, precheck)[0]
        # Of many keys few may be in this file: what is done with each of them comes after its footer was asked.
        distinct, number_of_key = _distinct(keys if len(candidates) == len(keys) else keys.take(pa.array(candidates)))
        if not _may_hold(storage, file, fragment, footer, distinct, precheck):
            return pa.nulls(len(keys), pa.int64())
        rows, numbers = _search(storage, file, fragment, distinct, virtual_key)
    result = np.full(len(keys), _ABSENT, np.int64)
    result[candidates] = _row_by_key(rows, numbers, len(distinct))[number_of_key]
    return pa.array(result, mask=result == _ABSENT)


def _distinct(keys: pa.StringArray) -> tuple[pa.StringArray, Indices | slice]:
    """Return the distinct ones of some keys, and for each key the number of the one that equals it."""
    if not len(sharing_a_hash(keys)):
        return keys, slice(None)
    encoded = keys.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def _row_by_key(rows: Indices, numbers: Indices, count: int) -> Indices:
    """Return the row of each of `count` keys: `SEVERAL` for one in several rows, `_ABSENT` for one in none."""
    row_of_key = np.full(count, _ABSENT, np.int64)
    row_of_key[numbers] = rows
    if len(rows) > np.count_nonzero(row_of_key >= 0):
        row_of_key[np.bincount(numbers, minlength=count) > 1] = SEVERAL
    return row_of_key


def rows_of_keys(
    storage: Storage, file: BaseFile, requested_keys: pa.StringArray, virtual_key: KeyFields | None = None, precheck: Precheck = RANGES
) -> tuple[Indices, Indices]:
    """Return every row of the base file that holds one of the wanted keys, ascending, and for each the number of its key.

    Args:
        storage: the table's storage.
        file: the base file.
        requested_keys: distinct keys.
        virtual_key: how keys come from the data, when the file has none.
        precheck: how the footer is asked whether the file may hold a wanted key at all.

    Raises:
        CorruptTableError: the file is damaged, missing, or has no record keys.
    """
    if not len(requested_keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    known = recall(storage, file, requested_keys) if virtual_key is None else None
    if known is not None:
        return known
    nothing = np.empty(0, np.int64)
    with open_pages(storage, file.path) as (fragment, source):
        footer = footer_entries(fragment, storage, file.path)
        candidates, key_range = _within_range(footer, requested_keys, precheck)
        values = requested_keys if len(candidates) == len(requested_keys) else requested_keys.take(pa.array(candidates))
        if not _may_hold(storage, file, fragment, footer, values, precheck):
            rows, numbers = nothing, nothing
        else:
            by_pages = _search_pages(storage, file, fragment, source, values) if virtual_key is None else None
            rows, numbers = _search(storage, file, fragment, values, virtual_key) if by_pages is None else by_pages
    if virtual_key is None:
        remember(storage, file, values, rows, numbers, key_range)
    return rows, candidates[numbers]


def _search_pages(
    storage: Storage, file: BaseFile, fragment: ds.ParquetFileFragment, source: pa.PythonFile, values: pa.StringArray
) -> tuple[Indices, Indices] | None:
    """Return what `_search` does where few pages tell it, else None."""
    parquet = pq.ParquetFile(source, metadata=fragment.metadata)
    pages = PageRows(source, parquet, f"file '{file.path}' of the table at {storage.uri}", verify=True)
    row_counts = [fragment.metadata.row_group(number).num_rows for number in range(fragment.metadata.num_row_groups)]
    return rows_by_pages(pages, row_counts, RECORD_KEY, values)


def _search(
    storage: Storage, file: BaseFile, fragment: ds.ParquetFileFragment, values: pa.StringArray, virtual_key: KeyFields | None
) -> tuple[Indices, Indices]:
    """Return the rows that hold one of some distinct keys, ascending, and for each the number of its key."""
    nothing = np.empty(0, np.int64)
    parts, begin = [(nothing, nothing)], 0
    for stored in _stored_keys(storage, file, fragment, virtual_key) if len(values) else ():
        indices = pc.index_in(stored, value_set=values)
        rows = np.flatnonzero(pc.is_valid(indices).to_numpy(zero_copy_only=False))
        parts.append((rows + begin, indices.drop_null().to_numpy()))
        begin += len(stored)
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([numbers for _, numbers in parts])


def _stored_keys(
    storage: Storage, file: BaseFile, fragment: ds.ParquetFileFragment, virtual_key: KeyFields | None
) -> Iterator[pa.ChunkedArray]:
    """Yield the keys of a file, in their order, about `_ROWS_AT_ONCE` at a time."""
    columns = [RECORD_KEY] if virtual_key is None else sorted(head_columns(virtual_key.key_fields))
    for name in columns:
        if name not in fragment.physical_schema.names:
            raise CorruptTableError(f"Base file '{file.path}' of the table at {storage.uri} has no column '{name}'.")
    waiting: list[pa.Array] = []
    rows = 0
    # The batches of a scan are small enough to stay in the processor's cache, and read ahead by other threads.
    for batch in fragment.scanner(columns=columns).to_batches():
        waiting.append(batch.column(0) if virtual_key is None else record_keys(pa.Table.from_batches([batch]), virtual_key))
        rows += batch.num_rows
        if rows >= _ROWS_AT_ONCE:
            yield pa.chunked_array(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.chunked_array(waiting)


def _within_range(footer: Mapping[str, str], keys: pa.StringArray, precheck: Precheck) -> tuple[Indices, tuple[str, str] | None]:
    """Return the numbers of the keys that can be in a file by the key range of its footer, and this range, if it was asked and is there."""
    lower, upper = footer.get(FOOTER_MIN_KEY), footer.get(FOOTER_MAX_KEY)
    if precheck.ranges and lower is not None and upper is not None and max(lower + upper, default="") < _FIRST_DIFFERENT:
        return indices_within(keys, (lower, upper)), (lower, upper)
    return np.arange(len(keys)), None


def _may_hold(
    storage: Storage, file: BaseFile, fragment: ds.ParquetFileFragment, footer: dict[str, str], keys: pa.StringArray, precheck: Precheck
) -> bool:
    """Tell whether a file may hold some of the keys that its key range has left."""
    try:
        return len(keys) > 0 and (not precheck.bloom or may_hold_keys(footer, keys, fragment.metadata.num_rows))
    except CorruptTableError as error:
        raise CorruptTableError(f"file '{file.path}' of table {storage.uri}: {error}; restore the file from a copy") from error
