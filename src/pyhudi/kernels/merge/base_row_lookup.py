"""Which rows of a slice's base file the versions in its logs are about.

Rules: `PositionBasedFileGroupRecordBuffer`, `KeyBasedFileGroupRecordBuffer`; docs/format/log-files.md#record-positions. Where every version
of a key gives its position in the base file, the file's keys are not read; other keys are looked up, all of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.iter_rows import project_columns
from pyhudi.kernels.base_file.read_base import iter_base_file, row_count
from pyhudi.kernels.keys.key_probe import rows_of_keys
from pyhudi.kernels.log_file.log_rows import LogRows
from pyhudi.spec.files.file_group import BaseFile

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class BaseMatch:
    """Rows of the base file (ascending), and for each the number of its key. Both are empty without a base file."""

    rows: Indices
    groups: Indices


def match_base(storage: Storage, context: RecordContext, base: BaseFile | None, log: LogRows, groups: Indices) -> BaseMatch:
    """Find the base rows of the keys in the logs.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like.
        base: the slice's base file.
        log: versions of records.
        groups: the number of each version's key, without gaps.

    Raises:
        CorruptTableError: the base file is damaged or missing, or a position is behind its end.
    """
    nothing = np.empty(0, np.int64)
    if base is None or not len(groups):
        return BaseMatch(nothing, nothing)
    by_position = log.positions >= 0
    rows, matched_groups = log.positions[by_position], groups[by_position]
    if len(rows):
        _check_end(storage, base, int(rows.max()), row_count(storage, base))
    if not by_position.all():
        unplaced = np.unique(groups[~by_position])
        first = np.empty(int(groups.max()) + 1, np.int64)
        first[groups[::-1]] = np.arange(len(groups))[::-1]
        more, numbers = rows_of_keys(storage, base, log.keys.take(pa.array(first[unplaced])), context.virtual_key)
        rows, matched_groups = np.concatenate([rows, more]), np.concatenate([matched_groups, unplaced[numbers]])
    distinct, indices = np.unique(rows, return_index=True)
    return BaseMatch(distinct, matched_groups[indices])


def match_positions(storage: Storage, base: BaseFile, positions: Indices) -> tuple[BaseMatch, Indices]:
    """Return the base rows of versions that all have a position, and for each version the number of its record.

    A record is a row of the base file here: the keys are not looked at.

    Raises:
        CorruptTableError: the base file is damaged or missing, or a position is behind its end.
    """
    _check_end(storage, base, int(positions.max(initial=-1)), row_count(storage, base))
    # The blocks ascend, and a stable sort joins them. Tables with a place for each base row would cost a first read their pages.
    order = np.argsort(positions, kind="stable")
    in_order = positions[order]
    is_first = np.ones(len(in_order), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    numbers = np.empty(len(in_order), np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    rows = in_order[is_first]
    return BaseMatch(rows, np.arange(len(rows))), numbers


def _check_end(storage: Storage, base: BaseFile, last: int, count: int) -> None:
    if last >= count:
        raise CorruptTableError(f"A log of base file '{base.path}' of the table at {storage.uri} speaks of row {last}; it has {count}.")


def rows_at(storage: Storage, base: BaseFile, schema: pa.Schema, columns: Sequence[str], row_indices: Indices) -> pa.Table:
    """Return some columns of the rows of a base file at some places, which are ascending."""
    projection = project_columns(schema, columns)
    batches: list[pa.RecordBatch] = []
    begin = 0
    for batch in iter_base_file(storage, base, schema, columns):
        first, last = np.searchsorted(row_indices, [begin, begin + batch.num_rows])
        if first < last:
            batches.append(batch.take(pa.array(row_indices[first:last] - begin)))
        begin += batch.num_rows
    return pa.Table.from_batches(batches, schema=projection)
