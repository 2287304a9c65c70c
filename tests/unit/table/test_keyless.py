"""Tables without record key: rows that bring their meta columns are updated and deleted by them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError, SchemaError, UnsupportedError
from pyhudi.schema.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY

Row = dict[str, object]
SCHEMA = pa.schema({"id": pa.int64(), "v": pa.int64(), "city": pa.string()})
ROWS = [{"id": 1, "v": 1, "city": "a"}, {"id": 2, "v": 2, "city": "b"}, {"id": 3, "v": 3, "city": "a"}]


def create(name: str, table_type: str, **settings: Any) -> HudiTable:
    made = HudiTable.create(f"memory://{name}", SCHEMA, name="t", partition_by=["city"], table_type=table_type, **settings)
    made.insert(ROWS)
    return made


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    return create(request.node.name, request.param)


def stored(table: HudiTable, *numbers: int) -> list[Row]:
    rows = sorted(table.to_arrow(meta_columns=True).to_pylist(), key=lambda row: row["id"])
    return [row for row in rows if not numbers or row["id"] in numbers]


def data(table: HudiTable) -> list[Row]:
    return [{name: row[name] for name in SCHEMA.names} for row in stored(table)]


def changed(rows: list[Row], **values: Any) -> list[Row]:
    return [{**row, **values} for row in rows]


@pytest.mark.parametrize("shape", [list, pa.Table.from_pylist, lambda rows: pa.Table.from_pylist(rows).to_pandas()])
def test_rows_that_were_read_are_updated_and_not_doubled(table: HudiTable, shape) -> None:
    keys = [row[RECORD_KEY] for row in stored(table)]
    result = table.upsert(shape(changed(stored(table, 1, 3), v=10)))
    assert (result.updated, result.inserted) == (2, 0)
    assert data(table) == [{**ROWS[0], "v": 10}, ROWS[1], {**ROWS[2], "v": 10}]
    assert [row[RECORD_KEY] for row in stored(table)] == keys


def test_key_and_partition_path_suffice_and_the_key_stays(table: HudiTable) -> None:
    before = stored(table)
    others = set(META_COLUMNS) - {RECORD_KEY, PARTITION_PATH}
    table.upsert([{name: value for name, value in {**row, "v": 7}.items() if name not in others} for row in before])
    assert [row["v"] for row in stored(table)] == [7, 7, 7]
    assert [row[RECORD_KEY] for row in stored(table)] == [row[RECORD_KEY] for row in before]


def test_rows_are_found_though_their_file_was_written_again(table: HudiTable) -> None:
    read = stored(table, 1)
    table.upsert(changed(stored(table, 3), v=4))
    table.upsert(changed(read, v=5))
    assert [row["v"] for row in data(table)] == [5, 2, 4]


def test_deletes_by_meta_columns(table: HudiTable) -> None:
    read = stored(table, 1, 2)
    assert table.delete([{name: row[name] for name in META_COLUMNS} for row in read]).deleted == 2
    assert data(table) == [ROWS[2]]
    assert table.delete(changed(stored(table), **{RECORD_KEY: "strange"})).instant is None


def test_row_whose_partition_value_changes_moves(table: HudiTable) -> None:
    key = stored(table, 1)[0][RECORD_KEY]
    table.upsert(changed(stored(table, 1, 2), city="b", v=9))
    assert data(table) == [{"id": 1, "v": 9, "city": "b"}, {"id": 2, "v": 9, "city": "b"}, ROWS[2]]
    assert (stored(table, 1)[0][RECORD_KEY], stored(table, 1)[0][PARTITION_PATH]) == (key, "b")
    table.upsert(changed(stored(table, 1), v=11))
    assert [row["v"] for row in data(table)] == [11, 9, 3]


def test_of_several_versions_of_a_row_the_last_stays(table: HudiTable) -> None:
    read = stored(table, 1)
    table.upsert([*changed(read, v=5), *changed(read, v=6)])
    assert data(table)[0]["v"] == 6
    table.upsert([*changed(read, v=7), *changed(read, v=8, city="b")])
    assert data(table) == [{"id": 1, "v": 8, "city": "b"}, *ROWS[1:]]


def test_ordering_field_decides_as_with_record_keys() -> None:
    table = create("keyless-ordered", "COPY_ON_WRITE", order_by=["v"])
    read = stored(table, 3)
    assert table.upsert(changed(read, v=1)).late_dropped == 1
    table.upsert([*changed(read, v=9), *changed(read, v=8)])
    assert data(table)[2]["v"] == 9


def refused(table: HudiTable, kind: type[Exception], says: str, rows: Any, operation: str = "upsert") -> None:
    before, history = data(table), table.history()
    with pytest.raises(kind, match=says):
        getattr(table, operation)(rows)
    assert table.history() == history
    assert data(table) == before


@pytest.mark.parametrize("operation", ["upsert", "delete"])
def test_rows_that_do_not_name_their_records_are_refused(table: HudiTable, operation: str) -> None:
    read = stored(table, 1, 3)
    advice = r"insert\(\) adds rows" if operation == "upsert" else r"delete\(where=...\)"
    refused(table, KeyFieldError, f"lack {RECORD_KEY} and {PARTITION_PATH}.*{advice}", ROWS, operation)
    for name in (RECORD_KEY, PARTITION_PATH):
        lacking = [{known: value for known, value in row.items() if known != name} for row in read]
        refused(table, KeyFieldError, f"lack {name}: ", lacking, operation)
        refused(table, KeyFieldError, "in 1 rows .* is null", [read[0], {**read[1], name: None}], operation)
    refused(table, KeyFieldError, "has type", pa.Table.from_pylist(read).set_column(2, RECORD_KEY, pa.array([[1], [2]])), operation)


def test_row_whose_record_is_not_in_the_table_is_refused(table: HudiTable) -> None:
    other = create(f"{table.storage.uri.rpartition('/')[2]}-other", "COPY_ON_WRITE")
    refused(table, KeyFieldError, "read from another table", [*stored(table, 1), *stored(other, 1)])
    read = stored(table, 1)
    refused(table, KeyFieldError, "has no record", changed(read, **{PARTITION_PATH: "b"}))
    table.delete(where="id = 1")
    refused(table, KeyFieldError, "was deleted since the row was read", changed(read, v=5))
    refused(table, KeyFieldError, "was deleted since the row was read", changed(read, city="b"))


def test_inserts_make_new_rows_of_those_that_bring_meta_columns(table: HudiTable) -> None:
    assert table.insert(stored(table, 1)).inserted == 1
    assert len({row[RECORD_KEY] for row in stored(table)}) == 4


def test_missing_columns_are_refused_here_too(table: HudiTable) -> None:
    lacking = [{name: value for name, value in row.items() if name != "v"} for row in stored(table, 1)]
    refused(table, SchemaError, "'v'", lacking)


def test_rows_of_several_versions_do_not_move() -> None:
    options = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    table = create("keyless-partial", "MERGE_ON_READ", options=options)
    refused(table, UnsupportedError, "would move to another partition", changed(stored(table, 1), city="b"))
