"""Finds the rows of base files that hold a record key, by reading nothing but key columns.

Rules: `HoodieSimpleIndex`, with the key range of the footers (`HoodieKeyLookupHandle`) to leave files out.
"""

from __future__ import annotations

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

#: What `find_keys` says of a key that stands in several rows.
SEVERAL = -1
_ABSENT = -2
#: Java orders text by UTF-16 units, Parquet by bytes; below this character both orders are one.
_FIRST_DIFFERENT = "\ud800"


def find_keys(storage: Storage, file: BaseFile, keys: pa.StringArray) -> pa.Int64Array:
    """Return, for each key, the row of the base file that holds it, `SEVERAL` when more than one does, null when none does.

    A file whose key range holds no wanted key is left out by its footer. A key may be asked for more than once.

    Raises:
        CorruptTableError: the file is damaged, missing, or has no record keys.
    """
    encoded = keys.dictionary_encode()
    wanted = encoded.dictionary
    found = np.full(len(wanted), _ABSENT, np.int64)
    if len(wanted):
        least, greatest = (bound.as_py() for bound in pc.min_max(wanted).values())
        with open_parquet(storage, file.path) as parquet:
            if _may_hold(footer_entries(parquet), least, greatest):
                if RECORD_KEY not in parquet.schema_arrow.names:
                    raise CorruptTableError(f"Base file '{file.path}' of the table at {storage.uri} has no column '{RECORD_KEY}'.")
                _mark(found, wanted, parquet.read(columns=[RECORD_KEY]).column(0))
    return pa.array(found, mask=found == _ABSENT).take(encoded.indices)


def _mark(found: npt.NDArray[np.int64], wanted: pa.StringArray, stored: pa.ChunkedArray) -> None:
    """Note the rows of stored keys that are wanted."""
    places = pc.index_in(stored, value_set=wanted)
    rows = np.flatnonzero(pc.is_valid(places).to_numpy())
    numbers = places.drop_null().to_numpy()
    found[numbers] = rows
    if len(rows) > np.count_nonzero(found >= 0):
        found[np.bincount(numbers, minlength=len(found)) > 1] = SEVERAL


def _may_hold(footer: dict[str, str], least: str, greatest: str) -> bool:
    """False when no key from `least` to `greatest` can be in a file with this footer."""
    lower, upper = footer.get(FOOTER_MIN_KEY), footer.get(FOOTER_MAX_KEY)
    if lower is None or upper is None or max(lower + upper, default="") >= _FIRST_DIFFERENT:
        return True
    return bool(lower.encode() <= greatest.encode() and upper.encode() >= least.encode())
