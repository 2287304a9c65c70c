"""Several incoming rows with one key become one. The rule on one key: `pyhudi.merge.merge_rules.combine_versions`,
`pyhudi.merge.apply_rule.apply_incoming`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.key_bytes import sharing_a_hash
from pyhudi.kernels.arrays.ordering_columns import check_orderable, ordering_columns
from pyhudi.kernels.arrays.record_versions import codes, winners
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import commit_time_deletes
from pyhudi.kernels.merge.partial_merge_incoming import combine_rows
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY


def last_of_each_key(rows: pa.Table, *, within_partition: bool = True) -> pa.Table:
    """Return the last row of each key, in the order in which they came; arguments as in `precombine`."""
    return greatest_of_each_key(rows, (), within_partition=within_partition)


def greatest_of_each_key(rows: pa.Table, ordering_fields: Sequence[str], *, within_partition: bool = True) -> pa.Table:
    """Return the row of the greatest ordering value of each key, of equal ones the last, in the order in which they came.

    Args:
        rows: keyed rows; with `_hoodie_partition_path` a key counts per partition.
        ordering_fields: names of the columns to compare.
        within_partition: False when keys are unique over the whole table (global indexes).

    Raises:
        SchemaError: an ordering field is missing or has no order.
    """
    check_orderable(rows.schema, ordering_fields)
    suspects = sharing_a_hash(rows.column(RECORD_KEY).combine_chunks())
    if not len(suspects):
        return rows
    candidates = rows.take(pa.array(suspects))
    groups = _groups(candidates, within_partition=within_partition)
    keep = np.ones(rows.num_rows, bool)
    keep[suspects] = False
    ordering = ordering_columns(candidates, ordering_fields)
    keep[suspects[winners(groups, ordering, commit_time_deletes(candidates))]] = True
    return rows.filter(pa.array(keep))


def precombine(rows: pa.Table, context: RecordContext, *, within_partition: bool = True) -> pa.Table:
    """Return one row per key by the rule of the table, in the order in which they came.

    The greatest ordering value wins, by commit time the last row. Where rows take values from several versions, those of one key do so
    in the order in which they came.

    Args:
        rows: keyed rows; with `_hoodie_partition_path` a key counts per partition.
        context: how the table's rows merge.
        within_partition: False when keys are unique over the whole table (global indexes).

    Raises:
        SchemaError: an ordering field is missing or has no order.
    """
    if context.combines_by_ordering:
        return greatest_of_each_key(rows, context.ordering_fields, within_partition=within_partition)
    if not context.mixes_versions:
        return greatest_of_each_key(rows, context.compared_fields, within_partition=within_partition)
    check_orderable(rows.schema, context.compared_fields)
    suspects = sharing_a_hash(rows.column(RECORD_KEY).combine_chunks())
    if not len(suspects):
        return rows
    rows = _whole(rows, context)
    candidates = rows.take(pa.array(suspects)).combine_chunks()
    combined, winning = combine_rows(context, candidates, _groups(candidates, within_partition=within_partition))
    others = np.delete(np.arange(rows.num_rows), suspects)
    order = np.argsort(np.concatenate([others, suspects[winning]]))
    return pa.concat_tables([rows.take(pa.array(others)), combined], promote_options="default").take(pa.array(order))


def _whole(rows: pa.Table, context: RecordContext) -> pa.Table:
    """Return rows with all columns of the table, in its types; a delete may have nulls where the table allows none."""
    ours = {name.lower() for name in context.schema.names}
    concurrent = rows.select([name for name in rows.schema.names if name.lower() not in ours])
    data = conform(rows, pa.schema([field.with_nullable(True) for field in context.schema]))
    return pa.Table.from_arrays([*concurrent.columns, *data.columns], schema=pa.schema([*concurrent.schema, *data.schema]))


def _groups(rows: pa.Table, *, within_partition: bool) -> Indices:
    """Numbers without gaps, alike for rows of one key."""
    groups = codes(rows.column(RECORD_KEY))
    if within_partition and PARTITION_PATH in rows.schema.names:
        partitions = codes(rows.column(PARTITION_PATH))
        groups = groups * (int(partitions.max()) + 1) + partitions
    return np.unique(groups, return_inverse=True)[1]
