"""Finds the file slices of a partition that hold record keys more than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_numbers import names_buckets
from pyhudi.index.consistent_hashing import uses_consistent_hashing
from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.retained_rows import KEY_COLUMNS, DuplicateRule, duplicated_rows, retained_rows
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.txn.locked_table import TableState


@dataclass(frozen=True, slots=True)
class PartitionDuplicates:
    """The slices of a partition, the rows of each that stay, the slices that hold a key of several rows, and how many these are.

    `retained` has one array for each of `slices`.
    """

    slices: tuple[FileSlice, ...]
    retained: tuple[Mask, ...]
    affected: tuple[FileSlice, ...]
    keys: int
    surplus_rows: int


def find_duplicates(
    table: TableState, context: RecordContext, partition_path: str, rule: DuplicateRule, limit_bytes: int
) -> PartitionDuplicates:
    """Read the keys of a partition.

    Raises:
        UnsupportedError: the table has no meta columns, or its file groups are buckets of keys.
        UsageError: the rule does not choose between rows.
        CorruptTableError: a file is damaged.
    """
    if not table.config.populate_meta_fields:
        raise UnsupportedError(
            f"table {table.storage.uri} has no meta columns (hoodie.populate.meta.fields=false): nothing tells which row is newer."
        )
    view = FileSystemView(table.storage, table.config, table.timeline)
    slices = tuple(view.latest_slices(partition_path))
    if uses_consistent_hashing(view) or names_buckets([one.group for one in slices]):
        raise UnsupportedError(
            f"table {table.storage.uri} is laid out by a bucket index: rows cannot leave the file group that their key names."
        )
    parts = [pa.concat_tables(_keys(table, context, file_slice, limit_bytes)) for file_slice in slices]
    if not parts:
        return PartitionDuplicates((), (), (), 0, 0)
    keys = pa.concat_tables(parts)
    retained, duplicated = retained_rows(keys, rule), duplicated_rows(keys)
    ends = _ends(parts)
    affected = tuple(one for one, (begin, end) in zip(slices, ends, strict=True) if duplicated[begin:end].any())
    return PartitionDuplicates(
        slices,
        tuple(retained[begin:end] for begin, end in ends),
        affected,
        keys=int((duplicated & retained).sum()),
        surplus_rows=int((~retained).sum()),
    )


def slice_task(table: TableState, file_slice: FileSlice) -> SliceTask:
    """Return the task that reads a slice, with the checksums of its logs."""
    checked = with_checksums(table.storage, table.config, table.timeline, file_slice)
    return SliceTask(checked, table.timeline.visibility, table.config.layout)


def _keys(table: TableState, context: RecordContext, file_slice: FileSlice, limit_bytes: int) -> Iterator[pa.Table]:
    task = replace(slice_task(table, file_slice), columns=KEY_COLUMNS)
    yield pa.schema([(name, pa.string()) for name in KEY_COLUMNS]).empty_table()
    for batch in iter_merged(table.storage, context, task, limit_bytes=limit_bytes):
        yield pa.Table.from_batches([batch]).select(KEY_COLUMNS)


def _ends(parts: Sequence[pa.Table]) -> list[tuple[int, int]]:
    """Return where each part begins and ends in all of them."""
    result, begin = [], 0
    for part in parts:
        result.append((begin, begin + part.num_rows))
        begin += part.num_rows
    return result
