"""The archived timeline of layout 2, which is kept in Parquet files: its rows, and the timeline that knows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.timeline.archived_timeline_lsm import COLUMNS
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline

if TYPE_CHECKING:
    from pyhudi.spec.table.table_config import TableConfig
    from pyhudi.storage.storage_protocol import Storage

_BATCH_ROWS = 1024
#: Columns of requested times, completion times and actions; the others hold bytes.
_TEXT_COLUMNS: Final = frozenset(COLUMNS[:3])


def load_full_timeline(storage: Storage, config: TableConfig, *, files: Mapping[str, int | None] | None = None) -> Timeline:
    """Read the active timeline; it tells when archived instants completed, and reads the archive when it is asked.

    Without these times a log file that outlives its instant's archival may look older or newer than a base file next to it. Arguments and
    errors as in `load_timeline`.
    """
    return load_timeline(storage, config, read_rows, files=files)


class ArchiveReader:
    """Reads the files of the archive; the `RowReader` of `pyhudi.timeline.archived_timeline_lsm`."""

    def __call__(self, storage: Storage, path: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of one file as mappings of these columns.

        Raises:
            CorruptTableError: the file is damaged, missing, or lacks one of the columns, or a name in it is no text.
        """
        with open_parquet(storage, path) as parquet:
            schema = parquet.schema_arrow
            for name in columns:
                if name not in schema.names:
                    raise CorruptTableError(f"File '{path}' of the table at {storage.uri} has no column '{name}'.")
                if name in _TEXT_COLUMNS and schema.field(name).type != pa.string():
                    raise CorruptTableError(f"File '{path}' of the table at {storage.uri} has no text in its column '{name}'.")
            for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(columns)):
                yield from batch.to_pylist()

    def greatest(self, storage: Storage, path: str, column: str) -> str | None:
        """Return the greatest text of a column by the footer of the file; None where the footer does not tell.

        Raises:
            CorruptTableError: the file is damaged or missing.
        """
        with open_parquet(storage, path) as parquet:
            if column not in parquet.schema_arrow.names:
                return None
            number, metadata = parquet.schema_arrow.names.index(column), parquet.metadata
            bounds = [metadata.row_group(group).column(number).statistics for group in range(metadata.num_row_groups)]
            if not all(bound is not None and bound.has_min_max and isinstance(bound.max, str) for bound in bounds):
                return None
            return max((bound.max for bound in bounds), default=None)


read_rows: Final = ArchiveReader()
