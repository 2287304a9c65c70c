"""Finds the base file that holds a record key, by reading nothing but key columns.

Rules: `HoodieSimpleIndex`, with the key range of the footers (`HoodieKeyLookupHandle`) to leave files out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.parquet_input import footer_entries, open_parquet
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.spec.file_group import BaseFile
    from pyhudi.storage.protocol import Storage

#: Keys of several small files are looked up together; so many at least, or as many as there are keys to find.
_LOOKUP_ROWS = 1 << 18
#: Java orders text by UTF-16 units, Parquet by bytes; below this character both orders are one.
_FIRST_DIFFERENT = "\ud800"


def locate_keys(storage: Storage, files: Sequence[BaseFile], keys: pa.StringArray) -> pa.Int32Array:
    """Return, for each key, the number of the file in `files` that holds it, or null.

    Files whose key range holds no wanted key are left out by their footer. Where several files hold a key, the last
    one counts. A key may be asked for more than once.

    Raises:
        CorruptTableError: a file is damaged, missing, or has no record keys.
    """
    encoded = keys.dictionary_encode()
    wanted = encoded.dictionary
    found = np.full(len(wanted), -1, np.int32)
    if len(wanted):
        least, greatest = (bound.as_py() for bound in pc.min_max(wanted).values())
        columns = _key_columns(storage, files, least, greatest)
        for stored, owners in _lookups(columns, max(_LOOKUP_ROWS, len(wanted))):
            _mark(found, wanted, stored, owners)
    return pa.array(found, mask=found < 0).take(encoded.indices)


def _mark(found: npt.NDArray[np.int32], keys: pa.StringArray, stored: pa.ChunkedArray, owners: list[tuple[int, int]]) -> None:
    """Note the owners of stored keys that are wanted; `owners` tells for each run of stored keys whose it is."""
    wanted = pc.index_in(stored, value_set=keys)
    hits = np.flatnonzero(pc.is_valid(wanted).to_numpy())
    numbers = np.array([number for number, _ in owners], np.int32)
    ends = np.cumsum([count for _, count in owners])
    places = wanted.drop_null().to_numpy()
    found[places] = numbers[np.searchsorted(ends, hits, side="right")]


def _lookups(columns: Iterator[tuple[int, pa.ChunkedArray]], at_least: int) -> Iterator[tuple[pa.ChunkedArray, list[tuple[int, int]]]]:
    """Yield key columns joined to `at_least` rows: the table of wanted keys is not built for each small file."""
    chunks: list[pa.Array] = []
    owners: list[tuple[int, int]] = []
    rows = 0
    for number, column in columns:
        chunks.extend(column.chunks)
        owners.append((number, len(column)))
        rows += len(column)
        if rows >= at_least:
            yield pa.chunked_array(chunks, pa.string()), owners
            chunks, owners, rows = [], [], 0
    if chunks:
        yield pa.chunked_array(chunks, pa.string()), owners


def _key_columns(storage: Storage, files: Sequence[BaseFile], least: str, greatest: str) -> Iterator[tuple[int, pa.ChunkedArray]]:
    for number, file in enumerate(files):
        with open_parquet(storage, file.path) as parquet:
            if not _may_hold(footer_entries(parquet), least, greatest):
                continue
            if RECORD_KEY not in parquet.schema_arrow.names:
                raise CorruptTableError(f"Base file '{file.path}' of the table at {storage.uri} has no column '{RECORD_KEY}'.")
            column = parquet.read(columns=[RECORD_KEY]).column(0)
        yield number, column


def _may_hold(footer: dict[str, str], least: str, greatest: str) -> bool:
    """False when no key from `least` to `greatest` can be in a file with this footer."""
    lower, upper = footer.get(FOOTER_MIN_KEY), footer.get(FOOTER_MAX_KEY)
    if lower is None or upper is None or max(lower + upper, default="") >= _FIRST_DIFFERENT:
        return True
    return bool(lower.encode() <= greatest.encode() and upper.encode() >= least.encode())
