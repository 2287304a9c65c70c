"""The delta of a file slice: which rows of its base file its logs put out of use, and the rows that replace them.

Rules: `FileGroupRecordBuffer`, `EventTimeRecordMerger`; docs/format/merging.md#ordering-values, #commit-time-ordering,
#event-time-ordering, `docs/design/0002-merge-on-read.md`. The rule on records: `pyhudi.merge.merge_rules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.ordering_columns import at_least, check_orderable, ordering_columns
from pyhudi.kernels.arrays.record_versions import codes, winners
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.iter_rows import project_columns
from pyhudi.kernels.log_file.base_positions import has_positions_in
from pyhudi.kernels.log_file.log_rows import LogRows, read_log_rows, slice_blocks
from pyhudi.kernels.log_file.visible_blocks import choose_blocks
from pyhudi.kernels.merge.base_row_lookup import BaseMatch, match_base, match_positions, rows_at
from pyhudi.kernels.merge.partial_merge import Targets, merge_versions, targets_of, values_of
from pyhudi.kernels.merge.partial_merge_custom import fold_records
from pyhudi.spec.files.file_group import BaseFile, FileSlice
from pyhudi.spec.files.log_block import LogBlock
from pyhudi.spec.visibility import Visibility

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class SliceTask:
    """Merge one file slice.

    `layout` is the timeline layout. `columns` are the names of the columns to return, None for the five meta columns and all data
    columns. `part` is number and count of parts by key, when the slice is merged in several. `unmerged` asks for the rows of the log files
    as they are, next to all rows of the base file.
    """

    slice: FileSlice
    visibility: Visibility
    layout: int
    columns: tuple[str, ...] | None = None
    part: tuple[int, int] = (0, 1)
    unmerged: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """What the logs of a slice change.

    `masked` are the places of base rows that no longer count, ascending. `rows` stand instead; `inserts` of them replace no base
    row. `late` keys came with ordering values too small to have an effect. `log_records` is how many rows and deletes were read,
    `log_blocks` and `log_bytes` how many blocks they came from and what those that hold rows take.
    """

    masked: pa.Int64Array
    rows: pa.Table
    late: int
    inserts: int
    log_records: int
    log_blocks: int = 0
    log_bytes: int = 0


def slice_delta(storage: Storage, context: RecordContext, task: SliceTask) -> Delta:
    """Merge the logs of a slice against its base file.

    Raises:
        CorruptTableError: a log or the base file is damaged or missing.
        UnsupportedError: the logs hold what is not served.
    """
    check_orderable(context.schema, context.compared_fields)
    blocks = chosen_blocks(storage, task)
    delta = _delta_of(storage, context, task, blocks)
    return replace(delta, log_blocks=len(blocks), log_bytes=sum(block.content_size for block in blocks if block.type.holds_rows))


def _delta_of(storage: Storage, context: RecordContext, task: SliceTask, blocks: Sequence[LogBlock]) -> Delta:
    base = task.slice.base
    projection = project_columns(context.schema, task.columns, meta_columns=True)
    # A merger of the owner's may look at any column.
    needed = projection if context.merger is None else project_columns(context.schema, None, meta_columns=True)
    instant = None if base is None else base.name.instant
    if task.unmerged:
        return _unmerged(read_log_rows(storage, context, blocks, needed.names, base_instant=instant, part=task.part), projection)
    if base is not None and _has_positions(context, task, blocks, instant):
        log = read_log_rows(storage, context, blocks, needed.names, base_instant=instant, keyed=False)
        match, groups = match_positions(storage, base, log.positions)
        return _merge_by_key(storage, context, base, log, groups, match, projection)
    log = read_log_rows(storage, context, blocks, needed.names, base_instant=instant, part=task.part)
    groups = codes(log.keys)
    match = match_base(storage, context, base, log, groups)
    if context.mixes_versions or any(present is not None for present in log.present_columns):
        return _merge_partially(storage, context, base, log, blocks, targets_of(groups, match), match, projection)
    return _merge_by_key(storage, context, base, log, groups, match, projection)


def _unmerged(log: LogRows, projection: pa.Schema) -> Delta:
    """Return all rows of the logs, which replace none; deletes have no rows (`UnmergedFileGroupRecordBuffer`)."""
    rows = log.rows.filter(pa.array(~log.deletes))
    return Delta(pa.array([], pa.int64()), _cast_rows(rows, projection), late=0, inserts=rows.num_rows, log_records=log.rows.num_rows)


def _has_positions(context: RecordContext, task: SliceTask, blocks: Sequence[LogBlock], instant: str | None) -> bool:
    """Tell whether positions say it all, so that the keys, the widest column as a rule, need not be read."""
    whole = all(has_positions_in(block, instant) and not block.header.is_partial for block in blocks)
    return whole and not context.mixes_versions and task.part == (0, 1)


def chosen_blocks(storage: Storage, task: SliceTask) -> list[LogBlock]:
    """Return the blocks of the slice's logs that count, in the order in which they apply; only headers are read.

    Raises:
        CorruptTableError: a log is damaged or missing.
    """
    return choose_blocks(slice_blocks(storage, task.slice, task.layout), task.visibility, task.layout)


def _merge_by_key(
    storage: Storage, context: RecordContext, base: BaseFile | None, log: LogRows, groups: Indices, match: BaseMatch, projection: pa.Schema
) -> Delta:
    """Merge by the winner among the versions of each key."""
    winner = winners(groups, ordering_columns(log.rows, context.compared_fields), log.commit_time_deletes)
    commit_time_deleted = np.zeros(len(winner), bool)
    commit_time_deleted[groups[log.commit_time_deletes]] = True
    wins = _wins(storage, context, base, log, winner, commit_time_deleted, match)
    met = np.zeros(len(winner), bool)
    met[match.groups] = True
    # The row occurs once for each base row that it replaces; once also for keys that were deleted before, or are new.
    times = np.bincount(match.groups[wins], minlength=len(winner))
    late = met & ~commit_time_deleted & (times == 0)
    times[commit_time_deleted | ~met] = 1
    times[log.deletes[winner]] = 0
    return Delta(
        masked=pa.array(match.rows[wins]),
        rows=_cast_rows(_take_rows(log.rows, winner, times), projection),
        late=int(late.sum()),
        inserts=int(times[~met].sum()),
        log_records=log.rows.num_rows,
    )


def _take_rows(rows: pa.Table, row_indices: Indices, times: Indices) -> pa.Table:
    """Return the rows at some places, each so many times."""
    if int(times.max(initial=0)) > 1:
        return rows.take(pa.array(np.repeat(row_indices, times)))
    # A filter copies what it keeps, and nothing else.
    keep = np.zeros(rows.num_rows, bool)
    keep[row_indices[times == 1]] = True
    return rows if keep.all() else rows.filter(pa.array(keep))


def _wins(
    storage: Storage,
    context: RecordContext,
    base: BaseFile | None,
    log: LogRows,
    winner: Indices,
    commit_time_deleted: Mask,
    match: BaseMatch,
) -> Mask:
    """Say for each matched base row whether the winner of its key takes its place."""
    wins = np.ones(len(match.rows), bool)
    compared = ~commit_time_deleted[match.groups]
    if context.compared_fields and base is not None and compared.any():
        fields, columns = context.compared_fields, context.compared_columns
        stored = rows_at(storage, base, context.schema, columns, match.rows[compared])
        incoming = log.rows.select(columns).take(pa.array(winner[match.groups[compared]]))
        later = at_least(ordering_columns(incoming, fields), ordering_columns(stored, fields))
        wins[compared] = later.to_numpy(zero_copy_only=False)
    return wins


def _merge_partially(
    storage: Storage,
    context: RecordContext,
    base: BaseFile | None,
    log: LogRows,
    blocks: Sequence[LogBlock],
    targets: Targets,
    match: BaseMatch,
    projection: pa.Schema,
) -> Delta:
    """Merge by applying the versions to the base rows one after the other."""
    versions = log.rows.combine_chunks()
    if base is not None and len(match.rows):
        stored = rows_at(storage, base, context.schema, log.rows.schema.names, match.rows)
        versions = pa.concat_tables([versions, stored.cast(versions.schema)]).combine_chunks()
    if context.merger is None:
        folded, sources = merge_versions(context, log, versions, targets)
        indices = folded.live_targets(targets)
        rows = pa.Table.from_arrays(values_of(versions, sources, indices, projection.names), schema=projection)
    else:
        folded, records = fold_records(context, log, blocks, versions, targets)
        indices = folded.live_targets(targets)
        rows = pa.Table.from_pylist([records[index] for index in indices.tolist()], schema=projection)
    return Delta(
        masked=pa.array(match.rows[folded.changed[: len(match.rows)]]),
        rows=rows,
        late=len(np.setdiff1d(targets.groups, targets.groups[folded.changed])),
        inserts=int((~targets.has_base[indices]).sum()),
        log_records=log.rows.num_rows,
    )


def _cast_rows(rows: pa.Table, projection: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([rows.column(name) for name in projection.names], schema=projection)
