"""What an append puts into log files: blocks, headers, the order of rows, statistics."""

from __future__ import annotations

import datetime as dt
import io
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.log.log_content import avro_records, decode_deletes
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.codec.log.roaring_positions import decode_positions
from pyhudi.kernels.arrays.avro_rows import encode
from pyhudi.kernels.base_file.base_file import LogSettings, RecordContext
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.kernels.log_file.append_task import AppendTask
from pyhudi.kernels.tasks.append_log import run_append_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, OrderingType
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice
from pyhudi.spec.files.file_names import BaseFileName, LogFileName
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.kernels.conftest import FIRST, SECOND, SMALL_FILTER, keyed, record_context_of

SCHEMA = pa.schema({"id": pa.int64(), "at": pa.int64(), "v": pa.string(), "_hoodie_is_deleted": pa.bool_()})
SHAPE = record_context_of(SCHEMA, ["at"])
SLICE = FileSlice(FileGroupId("p", "g1-0"), FIRST, BaseFile("p", BaseFileName("g1-0", "0-0-0", FIRST), 100))
TASK = AppendTask(SECOND, SLICE, LogFileName("g1-0", SECOND, 1, "3-0-0"))


def rows(*ids: int, deleted: bool = False, **more: list[Any]) -> pa.Table:
    data = {"id": list(ids), "at": [10 * n for n in ids], "v": [f"v{n}" for n in ids], "_hoodie_is_deleted": [deleted] * len(ids)}
    table = keyed(pa.table([pa.array(data[field.name], field.type) for field in SCHEMA], schema=SCHEMA))
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    return table


def append(table: pa.Table, task: AppendTask = TASK, context: RecordContext = SHAPE, **log: Any) -> tuple[MemoryStorage, list[TaskResult]]:
    storage = MemoryStorage()
    return storage, run_append_task(storage, context, replace(SMALL_FILTER, log=LogSettings(**log)), task, table)


def blocks(storage: MemoryStorage, result: TaskResult) -> list[tuple[LogBlock, bytes]]:
    source = io.BytesIO(storage.read(result.file))
    return [(block, read_content(source, block)) for block in scan_blocks(source, result.file, result.stat.file_size_in_bytes)]


def ids(content: bytes) -> list[int]:
    result: list[int] = pq.read_table(io.BytesIO(content))["id"].to_pylist()
    return result


def test_rows_stand_in_a_parquet_file_with_the_meta_columns_of_a_log() -> None:
    storage, (result,) = append(rows(1, 2))
    ((block, content),) = blocks(storage, result)
    assert (block.type, block.header.instant, block.header.is_partial) == (BlockType.PARQUET, SECOND, False)
    answer = pq.read_table(io.BytesIO(content)).to_pylist()
    assert answer[1] == {
        "_hoodie_commit_time": SECOND,
        "_hoodie_commit_seqno": f"{SECOND}_3_1",
        "_hoodie_record_key": "2",
        "_hoodie_partition_path": "p",
        "_hoodie_file_name": "g1-0",
        "id": 2,
        "at": 20,
        "v": "v2",
        "_hoodie_is_deleted": False,
    }
    assert block.header.schema_json == SHAPE.avro_schema_json


def test_rows_of_an_avro_block_are_datums_of_the_header_s_schema() -> None:
    storage, (result,) = append(rows(1, 2), block_type=BlockType.AVRO)
    ((block, content),) = blocks(storage, result)
    assert block.type is BlockType.AVRO
    assert block.header.schema_json is not None
    schema = json.loads(block.header.schema_json)
    answer = [fastavro.schemaless_reader(io.BytesIO(record), schema) for record in avro_records(content)]
    assert [(row["_hoodie_record_key"], row["v"]) for row in answer] == [("1", "v1"), ("2", "v2")]  # type: ignore[call-overload, index]


def test_rows_with_positions_stand_in_their_order() -> None:
    storage, (result,) = append(rows(1, 2, 3, _pyhudi_position=[70, 5, 6]))
    ((block, content),) = blocks(storage, result)
    assert ids(content) == [2, 3, 1]
    assert block.header.positions is not None
    assert list(decode_positions(block.header.positions)) == [5, 6, 70]
    assert block.header.positions_of == FIRST


@pytest.mark.parametrize("positions", [[1, SEVERAL], [4, 4], [1, None]])
def test_block_with_a_row_of_no_sure_position_has_none(positions: list[int | None]) -> None:
    storage, (result,) = append(rows(1, 2, _pyhudi_position=positions))
    ((block, content),) = blocks(storage, result)
    assert (block.header.positions, block.header.positions_of) == (None, None)
    assert ids(content) == [1, 2]


def test_positions_are_left_out_where_the_option_says_so() -> None:
    storage, (result,) = append(rows(1, 2, _pyhudi_position=[9, 8]), positions=False)
    ((block, _),) = blocks(storage, result)
    assert block.header.positions is None


def test_deletes_stand_in_one_block_after_the_rows_with_their_ordering_values() -> None:
    table = pa.concat_tables([rows(1), rows(2, deleted=True), rows(3)]).append_column("_pyhudi_delete", pa.array([False, False, True]))
    storage, (result,) = append(table)
    (data, content), (deletes, deleted) = blocks(storage, result)
    assert (ids(content), data.type, deletes.type) == ([1], BlockType.PARQUET, BlockType.DELETE)
    answer = decode_deletes(deleted)
    assert (answer.keys, answer.partition_paths, answer.ordering) == (("2", "3"), ("p", "p"), (20, COMMIT_TIME_DELETE))
    assert answer.ordering[1] is COMMIT_TIME_DELETE
    assert deletes.header.schema_json == SHAPE.avro_schema_json
    stat = result.stat
    assert (stat.num_writes, stat.num_update_writes, stat.num_deletes, stat.num_inserts) == (1, 1, 2, 0)


def test_delete_of_several_ordering_fields_has_a_value_of_each() -> None:
    storage, (result,) = append(rows(2, deleted=True), context=record_context_of(SCHEMA, ["at", "v"]))
    ((_, content),) = blocks(storage, result)
    assert decode_deletes(content).ordering == ((20, "v2"),)


def test_partial_rows_hold_their_columns_only_and_say_so() -> None:
    storage, (result,) = append(rows(1), replace(TASK, columns=("id", "at")))
    ((block, content),) = blocks(storage, result)
    assert block.header.is_partial
    assert block.header.schema_json is not None
    assert [field["name"] for field in json.loads(block.header.schema_json)["fields"]][5:] == ["id", "at"]
    assert pq.read_schema(io.BytesIO(content)).names[5:] == ["id", "at"]


def test_full_files_are_followed_by_files_of_the_next_versions() -> None:
    storage, results = append(rows(*range(40)), block_bytes=200, file_bytes=4000)
    versions = [result.stat.log_version for result in results]
    assert versions == list(range(1, len(results) + 1))
    assert len(results) > 2
    present = [n for result in results for _, content in blocks(storage, result) for n in ids(content)]
    assert present == list(range(40))
    assert sum(result.stat.num_writes for result in results) == 40
    assert all(result.stat.file_size_in_bytes == len(storage.read(result.file)) for result in results)


def test_marker_with_the_log_s_own_name_stands_before_the_file() -> None:
    storage, (result,) = append(rows(1))
    assert storage.stat(f".hoodie/.temp/{SECOND}/{result.file}.marker.CREATE") is not None


def test_statistics_are_those_of_a_delta_commit() -> None:
    _, (result,) = append(rows(1))
    stat = result.stat
    name = f".g1-0_{SECOND}.log.1_3-0-0"
    assert (stat.file_id, stat.path, stat.prev_commit, stat.base_file, stat.log_files) == ("g1-0", f"p/{name}", SECOND, "", (name,))
    assert (stat.log_version, stat.log_offset) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.int32(), 7, (OrderingType.INT, 7)),
        (pa.date32(), dt.date(1970, 1, 8), (OrderingType.INT, 7)),
        (pa.timestamp("us", "UTC"), dt.datetime(1970, 1, 1, 0, 0, 0, 7, dt.UTC), (OrderingType.LONG, 7)),
        (pa.decimal128(5, 2), Decimal("1.5"), (OrderingType.DECIMAL, Decimal("1.5"))),
    ],
)
def test_delete_s_ordering_value_has_the_type_that_apache_hudi_compares(kind, value, expected) -> None:
    schema = SCHEMA.set(1, pa.field("at", kind))
    table = rows(2, deleted=True).set_column(1, "at", pa.array([value], kind))
    storage, (result,) = append(table, context=record_context_of(schema, ["at"]))
    ((_, content),) = blocks(storage, result)
    assert decode_deletes(content).ordering == (expected[1],)
    # Behind version (4), length (4), count (1), key (1 + 2), path (1 + 2): the branch of the union, doubled as Avro writes numbers.
    assert content[4 + 4 + 1 + 3 + 3] == 2 * expected[0]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.none() | st.text(max_size=5), st.none() | st.binary(max_size=5))))
def test_datums_are_read_back_as_the_rows_they_were(values) -> None:
    schema = pa.schema({"n": pa.int64(), "t": pa.string(), "b": pa.binary(), "at": pa.timestamp("us")})
    names = ("n", "t", "b", "at")
    table = pa.Table.from_pylist([dict(zip(names, (*row, None), strict=True)) for row in values], schema=schema)
    avro = arrow_to_avro(schema, "t")
    result = [fastavro.schemaless_reader(io.BytesIO(record), json.loads(avro)) for record in encode(table, avro)]
    assert result == table.to_pylist()


def test_times_beyond_python_s_own_types_stand_in_avro_blocks() -> None:
    schema = pa.schema({"d": pa.date32(), "at": pa.timestamp("us", "UTC"), "s": pa.struct({"at": pa.timestamp("us")})})
    columns = [pa.array([2**31 - 1], pa.int32()), pa.array([2**62]), pa.array([{"at": -(2**62)}], pa.struct({"at": pa.int64()}))]
    table = pa.table([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
    plain = {"type": "record", "name": "r", "fields": [
        {"name": "d", "type": ["null", "int"]},
        {"name": "at", "type": ["null", "long"]},
        {"name": "s", "type": ["null", {"type": "record", "name": "s", "fields": [{"name": "at", "type": ["null", "long"]}]}]},
    ]}  # fmt: skip
    (record,) = encode(table, arrow_to_avro(schema, "t"))
    assert fastavro.schemaless_reader(io.BytesIO(record), plain) == {"d": 2**31 - 1, "at": 2**62, "s": {"at": -(2**62)}}
