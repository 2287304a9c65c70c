"""Merging incoming rows where a row can take values from several versions: partial updates, and mergers of the table's owner.

The rule on two versions: `pyhudi.merge.apply_rule.apply_incoming`. Incoming rows of one key become one in the order in which they came,
before they are written (`HoodieWriteHelper`); on copy-on-write tables that one is merged with
the row of the base file (`FileGroupReaderBasedMergeHandle`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, commit_time_deletes, marked_deletes
from pyhudi.kernels.log_file.log_rows import LogRows
from pyhudi.kernels.merge.base_row_lookup import BaseMatch
from pyhudi.kernels.merge.partial_merge import Targets, merge_versions, targets_of, values_of
from pyhudi.kernels.merge.partial_merge_custom import fold_records
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import META_FIELDS, RECORD_KEY

_NO_BASE = BaseMatch(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class MergedPairs:
    """What became of stored rows: which have changed, which of these are deleted, and the rows that stand for the others."""

    changed: Mask
    is_deleted: Mask
    rows: pa.Table


def merge_pairs(context: RecordContext, incoming: pa.Table, stored: pa.Table) -> MergedPairs:
    """Merge incoming rows with stored ones, pair by pair.

    Args:
        context: what the rows of the table look like and how they merge.
        incoming: record key, data columns, and optionally `_pyhudi_delete`.
        stored: as many rows; record key, data columns, and optionally meta columns.

    Raises:
        SchemaError: a merger of the table's owner returned a value that does not fit its column.
    """
    count = incoming.num_rows
    log = _as_log(context, incoming)
    versions = pa.concat_tables([_cast_records(context, incoming), _cast_records(context, stored)]).combine_chunks()
    numbers = np.arange(count)
    targets = Targets(numbers, count + numbers, ((numbers, numbers),))
    names = [RECORD_KEY, *context.schema.names]
    if context.merger is None:
        folded, sources = merge_versions(context, log, versions, targets)
        alive = np.flatnonzero(folded.changed & ~folded.deleted)
        rows = pa.Table.from_arrays(values_of(versions, sources, alive, names), names=names)
    else:
        folded, records = fold_records(context, log, (), versions, targets)
        alive = np.flatnonzero(folded.changed & ~folded.deleted)
        rows = pa.Table.from_pylist([records[index] for index in alive.tolist()], schema=versions.schema)
    key = pa.field(RECORD_KEY, pa.string())
    return MergedPairs(folded.changed, folded.deleted[folded.changed], conform(rows, pa.schema([key, *context.schema])))


def combine_rows(context: RecordContext, rows: pa.Table, groups: Indices) -> tuple[pa.Table, Indices]:
    """Return one row for each key, and the place of the row that it stands for: the one that brought the last effect.

    Args:
        context: what the rows of the table look like and how they merge.
        rows: record key, all data columns, and whatever else the rows bring.
        groups: the number of each row's key, without gaps.
    """
    log = _as_log(context, rows)
    targets = targets_of(groups, _NO_BASE)
    if context.merger is None:
        _, sources = merge_versions(context, log, rows, targets)
        everyone = np.arange(len(targets.start))
        columns = values_of(rows, sources, everyone, rows.schema.names)
        return pa.Table.from_arrays(columns, schema=rows.schema), sources[RECORD_KEY]
    folded, records = fold_records(context, log, (), _cast_records(context, rows), targets)
    last = np.empty(len(targets.start), np.int64)
    last[groups] = np.arange(len(groups))
    return _with_records(context, rows.take(pa.array(last)), records, folded.deleted), last


def _with_records(context: RecordContext, rows: pa.Table, records: list[dict[str, object]], deleted: Mask) -> pa.Table:
    """Return rows with the values of some records; a record that the merger deleted becomes a delete by commit time."""
    values = pa.Table.from_pylist(records, schema=_nullable(context))
    for name in rows.schema.names:
        if name in values.schema.names and name != RECORD_KEY:
            index = rows.schema.get_field_index(name)
            rows = rows.set_column(index, rows.schema.field(index), values.column(name).cast(rows.schema.field(index).type))
    unmarked = deleted & ~marked_deletes(rows, context)
    if not unmarked.any():
        return rows
    if DELETE_COLUMN in rows.schema.names:
        rows = rows.drop_columns([DELETE_COLUMN])
    return rows.append_column(DELETE_COLUMN, pa.array(unmarked))


def _as_log(context: RecordContext, rows: pa.Table) -> LogRows:
    """Return rows as versions that a log would bring."""
    hard = commit_time_deletes(rows)
    deletes = hard | marked_deletes(rows, context)
    count = rows.num_rows
    # Where no ordering values are compared, every delete counts by commit time.
    return LogRows(
        rows, deletes, hard if context.compared_fields else deletes, np.full(count, -1), np.zeros(count, np.int64), present_columns=(None,)
    )


def _cast_records(context: RecordContext, rows: pa.Table) -> pa.Table:
    return conform(rows, _nullable(context))


def _nullable(context: RecordContext) -> pa.Schema:
    """Return meta and data columns without demands: a delete has no values, a row that is not written yet no commit time."""
    return pa.schema([field.with_nullable(True) for field in (*META_FIELDS, *context.schema)])
