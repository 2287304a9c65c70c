"""The rows of a MERGE by where they go: new versions and deletes of located records, and records that may be new.

A located row names the file it was read from. A row that names none is looked up by the table's index, so that a key which
the table holds under another condition than the statement's is updated there and never doubled; a table without record
keys has nothing to look up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import KeyFieldError
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.rows import TaggedRows, join_tagged
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.kernels.merge.dedupe import precombine
from pyhudi.schema.meta_columns import FILE_NAME, RECORD_KEY, without_meta_columns
from pyhudi.spec.actions.commit import Operation
from pyhudi.write.input.prepare_rows import keyed_rows
from pyhudi.write.input.split_by_partition import split_by_partition
from pyhudi.write.tagging import prepped
from pyhudi.write.tagging.prepped import SliceIndex
from pyhudi.write.tagging.tag import TagOptions, dedupe_keys, drop_no_op_inserts, tag_rows
from pyhudi.write.tagging.virtual_key_lookup import OLD_PREFIX

#: A boolean column that accompanies the data: true marks a new version that equals the stored one.
UNCHANGED_COLUMN = "_pyhudi_unchanged"


def holds_changes(schema: pa.Schema) -> bool:
    """Tell whether rows with location columns are those of a MERGE."""
    return DELETE_COLUMN in schema.names


def user_columns(schema: pa.Schema) -> pa.Schema:
    """Return the columns of the data alone, without those for the location of rows and what happens to them."""
    concurrent = (DELETE_COLUMN, UNCHANGED_COLUMN)
    return pa.schema([one for one in without_meta_columns(schema) if one.name not in concurrent and not one.name.startswith(OLD_PREFIX)])


def tag_changes(
    data: pa.Table,
    rekeyed: Callable[[pa.Table], pa.Table],
    tagging: TagOptions,
    lookup: LookupContext,
    slice_index: SliceIndex,
    instant: str,
) -> list[TaggedRows]:
    """Return changes by where they go.

    Args:
        data: location columns, `_pyhudi_delete`, `_pyhudi_unchanged`, and the columns of the table; a row without location has a null file
            name.
        rekeyed: gives rows the key and partition path that their values give now.
        tagging: index and combining; what the operation upsert does.
        lookup: what the index may ask.
        slice_index: the table's files.
        instant: the write's requested time.

    Raises:
        KeyFieldError: two rows change one record, and no ordering field says which of them counts.
        ConflictError: a located record was written since.
    """
    context = lookup.context
    updates, deletes, new = split_changes(_drop_no_op_rows(data))
    parts = []
    if updates.num_rows:
        rows = updates.drop_columns([DELETE_COLUMN])
        parts += prepped.tag_updates(rekeyed(rows), rows, slice_index, keep_all=True)
    if deletes.num_rows:
        parts += prepped.tag_deletes(deletes, slice_index)
    if new.num_rows:
        keyed = keyed_rows(
            new.drop_columns([*prepped.LOCATION_COLUMNS, DELETE_COLUMN]), context.incoming_schema, slice_index.view.config, instant
        )
        parts += _tag_new(keyed, tagging, lookup)
    joined = [_one_change_a_key(part, context) for part in _by_partition(parts)]
    return drop_no_op_inserts(joined, context)


def _drop_no_op_rows(data: pa.Table) -> pa.Table:
    """Leave out rows that leave their record as it is, unless another row changes the same record."""
    if UNCHANGED_COLUMN not in data.schema.names:
        return data
    unchanged = pc.fill_null(data.column(UNCHANGED_COLUMN), False)
    data = data.drop_columns([UNCHANGED_COLUMN])
    if not pc.any(unchanged).as_py():
        return data
    indices = pc.binary_join_element_wise(*(data.column(name).cast(pa.string()) for name in prepped.LOCATION_COLUMNS), "/")
    return data.filter(pc.or_(pc.invert(unchanged), repeated_values(indices)))


def repeated_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return for each value whether it is in the column more than once; false for nulls."""
    counts = pc.value_counts(column.combine_chunks())
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1)).drop_null()
    return pc.is_in(column, value_set=repeated)


def split_changes(data: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return updates and deletes of located records, and rows without location."""
    without_location = pc.is_null(data.column(FILE_NAME))
    is_delete = pc.and_(pc.fill_null(data.column(DELETE_COLUMN), False), pc.invert(without_location))
    is_update = pc.invert(pc.or_(is_delete, without_location))
    return data.filter(is_update), data.filter(is_delete), data.filter(without_location)


def _tag_new(keyed: pa.Table, tagging: TagOptions, lookup: LookupContext) -> list[TaggedRows]:
    context = lookup.context
    if not lookup.view.config.record_key_fields:
        return [TaggedRows(part.partition_path, (), part.rows) for part in split_by_partition(keyed)]
    as_upsert = replace(
        tagging, operation=Operation.UPSERT, precombine=bool(context.ordering_fields), combine_option="no ordering field is set"
    )
    return tag_rows(split_by_partition(dedupe_keys(keyed, as_upsert, context)), as_upsert, context, lookup)


def _by_partition(parts: Iterable[TaggedRows]) -> list[TaggedRows]:
    """Return one value a partition, in which each slice occurs once."""
    by_path: dict[str, list[TaggedRows]] = {}
    for part in parts:
        by_path.setdefault(part.partition_path, []).append(part)
    return [join_tagged(tagged) for _, tagged in sorted(by_path.items())]


def _one_change_a_key(part: TaggedRows, context: RecordContext) -> TaggedRows:
    updates = tuple((file_slice, one_change(rows, context)) for file_slice, rows in part.updates)
    return replace(part, updates=updates)


def one_change(rows: pa.Table, context: RecordContext) -> pa.Table:
    """Return one row of each record: that of the greatest ordering value.

    Raises:
        KeyFieldError: nothing says which of several rows counts.
    """
    keys = rows.column(RECORD_KEY)
    repeated = keys.filter(repeated_values(keys))
    if not len(repeated):
        return rows
    deletes = DELETE_COLUMN in rows.schema.names and pc.any(rows.column(DELETE_COLUMN)).as_py()
    if not context.ordering_fields or deletes:
        raise KeyFieldError(
            f"MERGE INTO {context.name}: more than one row of the source changes the record '{repeated[0]}'"
            " (or the table holds it twice), and no ordering field says which counts. Leave one source row a record."
        )
    return precombine(rows, context)
