"""The global indexes where an engine has looked for all keys at once: what slices say of records that were found, and routing by that.

`GlobalIndex.tag` takes partition after partition and reads slices meanwhile. Here each slice is read once for all keys that were found in
it (`evaluate_hits`), and rows are routed by the answers (`route_rows`); both are Arrow tables, which an engine brings to where they are
needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.global_index import GlobalIndex, RecordState
from pyhudi.index.index_protocol import Hits
from pyhudi.index.rows import PartitionRows, TaggedRows, key_array
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.write.input.split_by_partition import split_by_partition

#: The number of a slice among those that hold some of the keys.
SLICE: Final = "_pyhudi_slice"
#: Whether a record is in the slice still, and whether the row is not late against it.
IS_LIVE: Final = "_pyhudi_stands"
WINS: Final = "_pyhudi_wins"
#: What is known of the slices that hold the key of a row, as a list of values.
HITS: Final = "_pyhudi_hits"
#: How many rows were left out as late; it has a row of its own, without key.
LATE: Final = "_pyhudi_late"

HIT_SCHEMA: Final = pa.schema(
    [(RECORD_KEY, pa.string()), (SLICE, pa.int32()), (POSITION_COLUMN, pa.int64()), (IS_LIVE, pa.bool_()), (WINS, pa.bool_())]
)
ROUTE_SCHEMA: Final = pa.schema(
    [
        (RECORD_KEY, pa.string()),
        (PARTITION_PATH, pa.string()),
        (FILE_ID_COLUMN, pa.string()),
        (POSITION_COLUMN, pa.int64()),
        (DELETE_COLUMN, pa.bool_()),
        (LATE, pa.int64()),
    ]
)
_ABSENT = -2


def evaluate_hits(rows: pa.Table, number: int, file_slice: FileSlice, record_state: RecordState) -> pa.Table:
    """Return what a slice says of rows whose keys it holds: the columns of `HIT_SCHEMA`.

    Args:
        rows: record key, position and ordering values, one row for each place of a key.
        number: of the slice.
        file_slice: the slice.
        record_state: reads it.
    """
    keys = key_array(rows)
    is_live = record_state.mark_live(Hits(file_slice, pa.array(np.zeros(len(keys), np.int64))), keys)
    live = rows.filter(is_live).drop_columns([POSITION_COLUMN])
    winners = key_array(live).filter(record_state.mark_not_late(live, file_slice))
    columns = [keys, pa.repeat(pa.scalar(number, pa.int32()), len(keys)), rows.column(POSITION_COLUMN), is_live]
    return pa.table([*columns, pc.is_in(keys, value_set=winners)], schema=HIT_SCHEMA)


def route_rows(index: GlobalIndex, rows: pa.Table, file_slices: Sequence[FileSlice], *, positions: bool) -> pa.Table:
    """Return where rows go: the columns of `ROUTE_SCHEMA`, for each key the slices that change, or none for a new record.

    Args:
        index: decides.
        rows: record key, partition path and hits of each row, one row a key.
        file_slices: the slices by number.
        positions: whether the places of records are wanted.
    """
    hits_of_parts: list[tuple[PartitionRows, list[Hits]]] = []
    answers: dict[FileSlice, _HitAnswers] = {}
    for part in split_by_partition(rows):
        hits = _hits_of(part.rows, file_slices, answers)
        hits_of_parts.append((PartitionRows(part.partition_path, part.rows.select([RECORD_KEY])), hits))
    tagged = index.route_rows(hits_of_parts, _KnownRecordState(answers), positions=positions) if hits_of_parts else []
    return pa.concat_tables([ROUTE_SCHEMA.empty_table(), *(_flat(part) for part in tagged)])


@dataclass(slots=True)
class _HitAnswers:
    """Keys whose records are live in a slice, and those whose rows are not late there; each key is in one partition's rows only."""

    live_keys: list[pa.StringArray]
    winning_keys: list[pa.StringArray]


@dataclass(frozen=True, slots=True)
class _KnownRecordState:
    """Answers what was evaluated before."""

    answers: Mapping[FileSlice, _HitAnswers]

    def mark_live(self, hits: Hits, keys: pa.StringArray) -> pa.BooleanArray:
        """See `RecordState`."""
        return pc.and_(hits.rows.is_valid(), pc.is_in(keys, value_set=pa.concat_arrays(self.answers[hits.file_slice].live_keys)))

    def mark_not_late(self, rows: pa.Table, file_slice: FileSlice) -> pa.BooleanArray:
        """See `RecordState`."""
        return pc.is_in(key_array(rows), value_set=pa.concat_arrays(self.answers[file_slice].winning_keys))


def _hits_of(rows: pa.Table, file_slices: Sequence[FileSlice], answers: dict[FileSlice, _HitAnswers]) -> list[Hits]:
    """Return the hits of the rows of one partition, by slice, and note what was evaluated."""
    lists, keys = rows.column(HITS).combine_chunks(), key_array(rows)
    parents, values = pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)
    numbers = values.field(SLICE).to_numpy(zero_copy_only=False)
    indices = pc.fill_null(values.field(POSITION_COLUMN), SEVERAL).to_numpy(zero_copy_only=False)
    result = []
    for number in np.unique(numbers):
        mine = np.flatnonzero(numbers == number)
        owners, known = parents[mine], values.take(pa.array(mine))
        positions = np.full(rows.num_rows, _ABSENT, np.int64)
        positions[owners] = indices[mine]
        positions[np.bincount(owners, minlength=rows.num_rows) > 1] = SEVERAL
        file_slice, owned = file_slices[number], keys.take(pa.array(owners))
        stated = answers.setdefault(file_slice, _HitAnswers([], []))
        stated.live_keys.append(owned.filter(known.field(IS_LIVE)))
        stated.winning_keys.append(owned.filter(known.field(WINS)))
        result.append(Hits(file_slice, pa.array(positions, mask=positions == _ABSENT)))
    return result


def _flat(part: TaggedRows) -> pa.Table:
    """Return tagged rows as one table."""
    return pa.concat_tables([ROUTE_SCHEMA.empty_table(), *_file_slices_of(part)])


def _file_slices_of(part: TaggedRows) -> Iterator[pa.Table]:
    for file_slice, rows in part.updates:
        yield _routes(rows, part.partition_path, file_slice.group.file_id)
    yield _routes(part.inserts, part.partition_path, None)
    if part.late:
        yield pa.Table.from_pylist([{LATE: part.late}], schema=ROUTE_SCHEMA)


def _routes(rows: pa.Table, path: str, file_id: str | None) -> pa.Table:
    count, names = rows.num_rows, rows.schema.names
    deletes = pc.fill_null(rows.column(DELETE_COLUMN), False) if DELETE_COLUMN in names else pa.repeat(pa.scalar(False), count)
    columns = [
        rows.column(RECORD_KEY),
        pa.repeat(pa.scalar(path), count),
        pa.array([file_id] * count, pa.string()) if file_id is None else pa.repeat(pa.scalar(file_id), count),
        rows.column(POSITION_COLUMN) if POSITION_COLUMN in names else pa.nulls(count, pa.int64()),
        deletes,
        pa.repeat(pa.scalar(0, pa.int64()), count),
    ]
    return pa.table(columns, schema=ROUTE_SCHEMA)
