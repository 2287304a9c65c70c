"""Routing by answers that were collected before sends every row where the global index sends it by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_protocol import Hits, KeyLookup, LookupContext
from pyhudi.index.rows import PartitionRows, TaggedRows
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.write.input.prepare_rows import TableSchema, keyed_rows, record_context
from pyhudi.write.input.split_by_partition import split_by_partition
from pyhudi.write.tagging.global_index_routing import HITS, IS_LIVE, LATE, SLICE, WINS, evaluate_hits, route_rows
from tests.unit.table.tables import make_table, ride

LEFT = {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}
Routes = set[tuple[str, str, str | None, bool, int | None]]


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def lookup(request: pytest.FixtureRequest) -> LookupContext:
    table = make_table(partition_by=["city"], order_by=["at"], table_type=request.param)
    table.upsert([ride(number, "oslo" if number % 2 else "rome", 0, 5) for number in range(12)], options=LEFT)
    table.upsert([ride(0, "rome", 1, 6), ride(1, "oslo", 1, 6)], options=LEFT)
    table.delete([ride(2, "rome"), ride(3, "oslo")], options=LEFT)
    table.insert([ride(4, "rome", 2, 7), ride(5, "bern", 2, 7), ride(3, "oslo", 2, 7)], options=LEFT)  # copies, and one that comes back
    timeline = load_timeline(table.storage, table.config)
    view = open_view(table.storage, table.config, timeline)
    context = record_context(TableSchema(table.schema, table.config.create_schema_json or ""), table.config)
    return LookupContext(table.storage, view, LocalEngine(), context)


@pytest.mark.parametrize("move", [True, False])
@pytest.mark.parametrize("ordering", [("at",), ()])
@pytest.mark.parametrize("positions", [True, False])
def test_every_row_goes_where_the_index_sends_it(lookup: LookupContext, move: bool, ordering: tuple[str, ...], positions: bool) -> None:
    lookup = replace(lookup, positions=positions)
    index = GlobalIndex(ordering_fields=ordering, merge_mode=MergeMode.EVENT_TIME_ORDERING, move=move)
    cities = ["rome", "rome", "oslo", "oslo", "oslo", "bern", "bern", "oslo", "lima", "rome", "rome"]
    data = pa.Table.from_pylist([ride(number, city, 9, 4 + number % 4) for number, city in enumerate([*cities, "lima", "lima", "lima"])])
    keyed = keyed_rows(data, lookup.context.schema, lookup.view.config, "20260101000000000")
    parts = split_by_partition(keyed)
    expected, late = flat(index.tag(parts, lookup))
    rows = route_rows(index, with_hits(index, parts, lookup), pieces_of(lookup), positions=positions).to_pylist()
    routes = {(one[RECORD_KEY], one[PARTITION_PATH], one[FILE_ID_COLUMN], one[DELETE_COLUMN], one[POSITION_COLUMN]) for one in rows}
    assert {route for route in routes if route[0] is not None} == expected
    assert sum(one[LATE] for one in rows) == late


def pieces_of(lookup: LookupContext) -> list[FileSlice]:
    return [file_slice for path in lookup.view.partition_paths() for file_slice in lookup.view.latest_slices(path)]


def with_hits(index: GlobalIndex, parts: list[PartitionRows], lookup: LookupContext) -> pa.Table:
    """The rows as an engine brings them: each with what the slices that hold its key say of it, which answer for all rows at once."""
    file_slices = pieces_of(lookup)
    calls: dict[int, list[pa.Table]] = {}
    for part, hits in zip(parts, index.locator.locate([KeyLookup(keys_of(part)) for part in parts], lookup), strict=True):
        for hit in hits:
            calls.setdefault(file_slices.index(hit.file_slice), []).append(rows_of_hit(part, hit))
    answers = [
        evaluate_hits(pa.concat_tables(rows), number, file_slices[number], index.record_state(lookup)) for number, rows in calls.items()
    ]
    by_key: dict[str, list[dict[str, Any]]] = {}
    for answer in pa.concat_tables(answers).to_pylist():
        by_key.setdefault(answer.pop(RECORD_KEY), []).append(answer)
    kind = pa.list_(pa.struct([(SLICE, pa.int32()), (POSITION_COLUMN, pa.int64()), (IS_LIVE, pa.bool_()), (WINS, pa.bool_())]))
    tables = [
        pa.table(
            {
                RECORD_KEY: keys_of(part),
                PARTITION_PATH: [part.partition_path] * part.rows.num_rows,
                HITS: pa.array([by_key.get(key) for key in keys_of(part).to_pylist()], kind),
            }
        )
        for part in parts
    ]
    return pa.concat_tables(tables)


def rows_of_hit(part: PartitionRows, hit: Hits) -> pa.Table:
    return part.rows.append_column(POSITION_COLUMN, hit.rows).filter(hit.rows.is_valid())


def keys_of(part: PartitionRows) -> pa.StringArray:
    return part.rows.column(RECORD_KEY).combine_chunks()


def flat(tagged: list[TaggedRows]) -> tuple[Routes, int]:
    result: Routes = set()
    for part in tagged:
        for file_id, rows in [*((file_slice.group.file_id, rows) for file_slice, rows in part.updates), (None, part.inserts)]:
            for row in rows.to_pylist():
                result.add((row[RECORD_KEY], part.partition_path, file_id, bool(row.get(DELETE_COLUMN)), row.get(POSITION_COLUMN)))
    return result, sum(part.late for part in tagged)
