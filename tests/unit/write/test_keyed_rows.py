"""Keys of many rows, which are made in chunks, are those that are made at once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import KeyFieldError
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.input import prepare_rows
from tests.unit.table.tables import SCHEMA, make_table, ride

ROWS = pa.Table.from_pylist([ride(number, "oslo" if number % 3 else "rome", at=number) for number in range(20)], SCHEMA)


def config_of(keys: list[str]) -> TableConfig:
    return make_table(partition_by=["city"], keys=keys).config


@pytest.mark.parametrize("keys", [["id"], ["id", "city"], ["city"], []], ids=str)
def test_chunks_give_the_same_keys_and_paths(keys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(keys)
    whole = prepare_rows.keyed_rows(ROWS, SCHEMA, config, "20260101000000000")
    monkeypatch.setattr(prepare_rows, "_CHUNK_ROWS", 3)
    chunked = prepare_rows.keyed_rows(ROWS, SCHEMA, config, "20260101000000000")
    assert chunked.column(RECORD_KEY).num_chunks == 7
    for column in (RECORD_KEY, PARTITION_PATH):
        assert chunked.column(column).to_pylist() == whole.column(column).to_pylist()


def test_an_error_names_the_first_wrong_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare_rows, "_CHUNK_ROWS", 3)
    ids = pa.array([None if number in (7, 13) else number for number in range(20)], pa.int64())
    rows = ROWS.set_column(0, SCHEMA.field("id").with_nullable(True), ids)
    with pytest.raises(KeyFieldError, match=r"[Rr]ow 7\b"):
        prepare_rows.keyed_rows(rows, rows.schema, config_of(["id"]), "20260101000000000")
