"""Rows of the Parquet files in which the archived timeline of layout 2 is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.parquet_input import open_parquet

if TYPE_CHECKING:
    from pyhudi.storage.protocol import Storage

_BATCH_ROWS = 1024


def read_rows(storage: Storage, path: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of one file as mappings of these columns; the `RowReader` of `pyhudi.timeline.history_lsm`.

    Raises:
        CorruptTableError: the file is damaged, missing, or lacks one of the columns.
    """
    with open_parquet(storage, path) as parquet:
        missing = [name for name in columns if name not in parquet.schema_arrow.names]
        if missing:
            raise CorruptTableError(f"File '{path}' of the table at {storage.uri} has no column '{missing[0]}'.")
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(columns)):
            yield from batch.to_pylist()
