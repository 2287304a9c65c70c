"""The log of changes that a compaction leaves next to its base file: what the logs changed of the base file before.

Rules: `FileGroupReaderBasedMergeHandle`. Readers in Spark take the changes of the delta commits instead; some of Flink take these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.cdc.change_log_writer import ChangeLog, Rewrite
from pyhudi.kernels.keys.key_kernels import with_computed_keys
from pyhudi.kernels.merge.base_row_lookup import rows_at
from pyhudi.kernels.merge.merge_slice import deltas
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


def log_compaction(
    storage: Storage, context: RecordContext, settings: WriterSettings, task: Rewrite, merge: SliceTask, limit_bytes: int
) -> ChangeLog | None:
    """Write the log of a compacted slice and return it, None when the table has none or all rows are new.

    Raises:
        CorruptTableError: a file of the slice is damaged.
    """
    base = merge.slice.base
    if context.change_log is None or base is None:
        return None
    with ChangeLog(storage, context, settings, task) as log:
        for delta in deltas(storage, context, merge, limit_bytes):
            indices = delta.masked.to_numpy()
            stored = rows_at(storage, base, context.schema, [RECORD_KEY, *context.schema.names], np.sort(indices))
            removed = with_computed_keys(stored, context.virtual_key)
            new, stays = _in_order_of_keys(delta.rows, removed)
            log.replaced(removed.take(pc.sort_indices(removed, [(RECORD_KEY, "ascending")])), stays)
            log.inserted(new)
    return log


def _in_order_of_keys(come: pa.Table, removed: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows whose key is new, and in the order of their keys those that stand for rows that went."""
    known = pc.is_in(come.column(RECORD_KEY), value_set=removed.column(RECORD_KEY).combine_chunks())
    stays = come.filter(known)
    return come.filter(pc.invert(known)), stays.take(pc.sort_indices(stays, [(RECORD_KEY, "ascending")]))
