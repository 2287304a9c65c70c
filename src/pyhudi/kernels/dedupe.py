"""Several incoming rows with one key become one. The rule on one key: `pyhudi.merge.rules.combined`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.incoming import commit_time_deletes
from pyhudi.kernels.key_bytes import sharing_a_hash
from pyhudi.kernels.ordering import check_orderable
from pyhudi.merge.mode import MergeMode, check_served
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY

Places = npt.NDArray[np.int64]


def combine(rows: pa.Table, ordering_fields: Sequence[str], mode: MergeMode, *, within_partition: bool = True) -> pa.Table:
    """Return one row per key, in the order in which they came: the greatest ordering value wins, of
    equal ones the last.

    Args:
        rows: keyed rows; with `_hoodie_partition_path` a key counts per partition.
        ordering_fields: the table's ordering fields; without any the last row wins.
        mode: the table's merge mode; by commit time the last row wins whatever its ordering values are.
        within_partition: False when keys are unique over the whole table (global indexes).

    Raises:
        SchemaError: an ordering field is missing or has no order.
    """
    check_served(mode)
    fields = ordering_fields if mode is MergeMode.EVENT_TIME_ORDERING else ()
    check_orderable(rows.schema, fields)
    suspects = sharing_a_hash(rows.column(RECORD_KEY).combine_chunks())
    if not len(suspects):
        return rows
    candidates = rows.take(pa.array(suspects))
    groups = _groups(candidates, within_partition=within_partition)
    keep = np.ones(rows.num_rows, bool)
    keep[suspects] = False
    keep[suspects[_winners(candidates, groups, fields)]] = True
    return rows.filter(pa.array(keep))


def _groups(rows: pa.Table, *, within_partition: bool) -> Places:
    """Numbers without gaps, alike for rows of one key."""
    groups = _codes(rows.column(RECORD_KEY))
    if within_partition and PARTITION_PATH in rows.schema.names:
        partitions = _codes(rows.column(PARTITION_PATH))
        groups = groups * (int(partitions.max()) + 1) + partitions
    return np.unique(groups, return_inverse=True)[1]


def _winners(rows: pa.Table, groups: Places, ordering_fields: Sequence[str]) -> Places:
    """Places of the rows that stay."""
    ranks = [_ranks(rows.column(name)) for name in ordering_fields]
    generations = _generations(groups, commit_time_deletes(rows))
    order = np.lexsort((np.arange(rows.num_rows), *reversed(ranks), generations, groups))
    last_of_group = np.flatnonzero(np.append(np.diff(groups[order]) != 0, True))
    winners: Places = order[last_of_group]
    return winners


def _generations(groups: Places, hard_deletes: npt.NDArray[np.bool_]) -> Places:
    """Say for each row whether it came before (-1), as (0) or after (1) its group's last delete by commit time.

    Such a delete beats all that came before it, and any row that comes after beats the delete.
    """
    if not hard_deletes.any():
        return np.zeros(len(groups), np.int64)
    places = np.arange(len(groups))
    last = np.full(int(groups.max()) + 1, -1)
    np.maximum.at(last, groups[hard_deletes], places[hard_deletes])
    generations: Places = np.sign(places - last[groups])
    return generations


def _ranks(column: pa.ChunkedArray) -> Places:
    """Ranks of ordering values: null first, NaN last, equal values alike."""
    values = column.combine_chunks()
    ranks: Places = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64)
    if pt.is_floating(values.type):
        ranks[pc.fill_null(pc.is_nan(values), False).to_numpy(zero_copy_only=False)] = len(values) + 1
    ranks[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return ranks


def _codes(column: pa.ChunkedArray) -> Places:
    values = column.combine_chunks()
    encoded = values if pt.is_dictionary(values.type) else values.dictionary_encode()
    codes: Places = encoded.indices.to_numpy().astype(np.int64)
    return codes
