"""How many bytes a record takes in a base file.

Rules: `AverageRecordSizeEstimator`; docs/format/data-files.md#estimate-of-the-record-size. The commit before tells, when it wrote enough
for its footers not to count; otherwise some of the rows are encoded. Hudi assumes 1024 bytes then, which makes hundreds of small files of
small records.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.arrays.byte_size import byte_size
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.base_file.size_estimate import row_bytes
from pyhudi.spec.actions.commit import CommitMetadata

_LEAST_BYTES = 1.0
#: Of so few rows the size in memory is good enough: they fit anywhere.
_FEW_ROWS = 1000
#: What the meta columns and the columns' own structure add to a row, at most.
_META_BYTES = 200.0


def record_bytes(latest: CommitMetadata | None, tagged: Iterable[TaggedRows], settings: WriterSettings, *, threshold: float) -> float:
    """Return the bytes that one record takes.

    Args:
        latest: the commit before, None when there is none.
        tagged: the rows of this write; those of its largest partition are looked at.
        settings: how base files are written.
        threshold: share of the small-file limit that the commit before must have written to be believed.
    """
    if latest is not None:
        in_base_files = [stat for stat in latest.all_stats() if stat.log_version is None]
        size = sum(stat.total_write_bytes for stat in in_base_files)
        records = sum(stat.num_writes for stat in in_base_files)
        if records and size > threshold * settings.small_file_bytes:
            return max(_LEAST_BYTES, size / records)
    rows = max((rows for part in tagged for rows in (part.inserts, *(rows for _, rows in part.opened))), key=len, default=None)
    if rows is None or not rows.num_rows:
        return _LEAST_BYTES
    if rows.num_rows < _FEW_ROWS:
        in_memory: float = byte_size(rows) / rows.num_rows
        return max(_LEAST_BYTES, in_memory + _META_BYTES)
    return max(_LEAST_BYTES, row_bytes(rows, settings))
