"""Several incoming rows with one key become one. The rule on one key: `pyhudi.merge.rules.combined`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pyhudi.kernels.incoming import commit_time_deletes
from pyhudi.kernels.key_bytes import sharing_a_hash
from pyhudi.kernels.ordering import check_orderable
from pyhudi.kernels.versions import Places, codes, winners
from pyhudi.merge.mode import MergeMode, check_served
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY


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
    ordering = [candidates.column(name) for name in fields]
    keep[suspects[winners(groups, ordering, commit_time_deletes(candidates))]] = True
    return rows.filter(pa.array(keep))


def _groups(rows: pa.Table, *, within_partition: bool) -> Places:
    """Numbers without gaps, alike for rows of one key."""
    groups = codes(rows.column(RECORD_KEY))
    if within_partition and PARTITION_PATH in rows.schema.names:
        partitions = codes(rows.column(PARTITION_PATH))
        groups = groups * (int(partitions.max()) + 1) + partitions
    return np.unique(groups, return_inverse=True)[1]
