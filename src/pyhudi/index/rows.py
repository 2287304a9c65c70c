"""The rows of a write on their way to file groups, as Arrow tables.

Keyed rows hold `_hoodie_record_key` and the data columns of the table. Rows with a true `_pyhudi_delete` remove the
record of their key and need no other column. `_pyhudi_position` says where in the slice's base file an update's
record stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, POSITION_COLUMN
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """Keyed rows of one partition."""

    partition_path: str
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class TaggedRows:
    """The keyed rows of one partition by where they go: `updates` to file slices of this partition, `inserts` to none
    yet.

    `late` counts rows that were left out because a stored record in another partition has a greater ordering value. `new_buckets` are
    rows of file groups that begin with them, by how their file ids begin: where the key says the file group.
    """

    partition_path: str
    updates: tuple[tuple[FileSlice, pa.Table], ...]
    inserts: pa.Table
    late: int = 0
    new_buckets: tuple[tuple[str, pa.Table], ...] = ()


def join_tagged(parts: Sequence[TaggedRows]) -> TaggedRows:
    """Return tagged rows of one partition as one, where each file group has its rows at once."""
    updates: dict[FileSlice, list[pa.Table]] = {}
    new_buckets: dict[str, list[pa.Table]] = {}
    for part in parts:
        for file_slice, rows in part.updates:
            updates.setdefault(file_slice, []).append(rows)
        for beginning, rows in part.new_buckets:
            new_buckets.setdefault(beginning, []).append(rows)
    inserts = [part.inserts for part in parts if part.inserts.num_rows] or [parts[0].inserts]
    return TaggedRows(
        parts[0].partition_path,
        tuple((file_slice, join_rows(rows)) for file_slice, rows in updates.items()),
        join_rows(inserts),
        sum(part.late for part in parts),
        tuple((beginning, join_rows(rows)) for beginning, rows in new_buckets.items()),
    )


def key_array(rows: pa.Table) -> pa.StringArray:
    """Return the record keys of keyed rows as one array."""
    keys = rows.column(RECORD_KEY)
    return keys.chunk(0) if keys.num_chunks == 1 else keys.combine_chunks()


def deletes_of(keys: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return keyed rows that remove the records of these keys."""
    return pa.table({RECORD_KEY: keys, DELETE_COLUMN: pa.repeat(pa.scalar(True), len(keys))})


def with_positions(rows: pa.Table, positions: pa.Int64Array) -> pa.Table:
    """Return keyed rows with the places of their records in the base file."""
    return rows.append_column(pa.field(POSITION_COLUMN, pa.int64()), positions)


def with_sure_positions(rows: pa.Table) -> pa.Table:
    """Return keyed rows so that a key which was found in several places has the position `SEVERAL`."""
    if POSITION_COLUMN not in rows.schema.names:
        return rows
    indices = rows.group_by(RECORD_KEY).aggregate([(POSITION_COLUMN, "min"), (POSITION_COLUMN, "max")])
    least, greatest = (indices.column(f"{POSITION_COLUMN}_{end}") for end in ("min", "max"))
    doubtful = pc.is_in(rows.column(RECORD_KEY), value_set=indices.column(RECORD_KEY).filter(pc.less(least, greatest)).combine_chunks())
    positions = pc.if_else(doubtful, SEVERAL, rows.column(POSITION_COLUMN))
    return rows.set_column(rows.schema.get_field_index(POSITION_COLUMN), POSITION_COLUMN, positions)


def join_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """Return keyed rows as one table without copying; what only some of the tables hold is null in the others."""
    if len(tables) == 1:
        return tables[0]
    same = all(table.schema.equals(tables[0].schema) for table in tables)
    return pa.concat_tables(tables, promote_options="none" if same else "default")
