"""Which of the records that a base file holds still stand, once the logs on top of it are merged.

An index finds keys in base files. For an update that is enough: what the logs say is merged when it is read. Whether a key is taken, and
by which version, takes a look at the logs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.index.index_protocol import Hits, LookupContext
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice

#: Tells which of all rows that were looked for, by their keys, have their record in the slice of some hits still.
MarkLive: TypeAlias = Callable[[Hits, pa.StringArray], pa.BooleanArray]


def live_rows(lookup: LookupContext, file_slice: FileSlice, keys: pa.StringArray, columns: Sequence[str]) -> pa.Table:
    """Return record key and `columns` of the slice's records with these keys, as a reader of now sees them."""
    names = (RECORD_KEY, *columns)
    view = lookup.view
    checked = with_checksums(view.storage, view.config, view.timeline, file_slice)
    task = SliceTask(checked, view.timeline.visibility, view.config.layout, names)
    live_schema = pa.schema([(RECORD_KEY, pa.string()), *(lookup.context.schema.field(name) for name in columns)])
    batches = iter_merged(lookup.storage, lookup.context, task, pc.field(RECORD_KEY).isin(keys))
    return pa.Table.from_batches(batches, schema=live_schema)


def mark_live(lookup: LookupContext, hits: Hits, keys: pa.StringArray) -> pa.BooleanArray:
    """Return which of the rows have their record in the slice still; `keys` are those of all rows that were looked for."""
    is_live = hits.rows.is_valid()
    if not hits.file_slice.logs:
        return is_live
    records = live_rows(lookup, hits.file_slice, keys.filter(is_live), ())
    return pc.and_(is_live, pc.is_in(keys, value_set=records.column(RECORD_KEY).combine_chunks()))


def of_live_records(all_hits: Sequence[Hits], keys: pa.StringArray, mark_live: MarkLive) -> list[Hits]:
    """Return the hits in the slices of one partition without those of deleted records whose key is in another slice, too.

    A record that was deleted and inserted again has its key in two base files. An update that went to both would bring deleted one
    back. A key that is nowhere keeps its first slice, where its next version goes.
    """
    counts = sum((hits.rows.is_valid().to_numpy(zero_copy_only=False).astype(int) for hits in all_hits), start=0)
    shared = pa.array(counts > 1) if all_hits else pa.array([], pa.bool_())
    if not pc.any(shared).as_py() or not any(hits.file_slice.logs for hits in all_hits):
        return list(all_hits)
    retained = [pc.or_(pc.and_not(hits.rows.is_valid(), shared), mark_live(filter_hits(hits, shared), keys)) for hits in all_hits]
    unmatched = pc.and_(shared, pc.invert(functools.reduce(pc.or_, retained)))
    for index, hits in enumerate(all_hits):
        first = pc.and_(unmatched, hits.rows.is_valid())
        retained[index] = pc.or_(retained[index], first)
        unmatched = pc.and_not(unmatched, first)
    return [filter_hits(hits, mask) for hits, mask in zip(all_hits, retained, strict=True)]


def filter_hits(hits: Hits, mask: pa.BooleanArray) -> Hits:
    """Return the hits of the rows that are marked."""
    return Hits(hits.file_slice, pc.if_else(mask, hits.rows, pa.scalar(None, pa.int64())))
