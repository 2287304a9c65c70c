"""Keys of a record index are counted as they are there after all base files and log blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.metadata_table.read import key_count
from pyhudi.metadata_table.read.key_count import count_keys
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.raw_cells import Part
from tests.unit.metadata_table.tables import COMPARABLE, open_metadata

SCHEMA = pa.schema({"id": pa.string(), "v": pa.int64()})


class Keys:
    """MarkLive for an HFile: its keys."""

    def __init__(self, rows: list[bytes]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def entries(self) -> list[tuple[bytes, bytes]]:
        return [(row, b"") for row in self.rows]

    def get_many(self, rows: list[bytes]) -> list[tuple[bytes, bytes]]:
        return [(row, b"") for row in rows if row in self.rows]


def entries_of(table: MetadataTable, name: str = "record_index") -> int:
    return sum(1 for _ in table.partition(name).scan())


@pytest.mark.parametrize("name", [name for name in COMPARABLE if name.startswith("cow/v9")])
def test_count_of_a_table_of_apache_hudi_is_that_of_its_records(fixture_table: Callable[[str], Path], name: str) -> None:
    *_, table = open_metadata(fixture_table(name))
    assert table.count_keys("record_index") == entries_of(table)


def test_count_follows_inserts_and_deletes_and_gives_up_on_long_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    options = {"hoodie.metadata.global.record.level.index.enable": "true"}
    table.insert(pa.table({"id": ["a", "b", "c"], "v": [1, 2, 3]}, schema=SCHEMA), options=options)
    table.upsert(pa.table({"id": ["c", "d"], "v": [1, 2]}, schema=SCHEMA), options=options)
    table.delete(pa.table({"id": ["a", "nobody"], "v": [1, 2]}, schema=SCHEMA), options=options)
    *_, result = open_metadata(tmp_path / "t")
    assert result.count_keys("record_index") == entries_of(result) == 3
    monkeypatch.setattr(key_count, "_MOST_BYTES", 1)
    assert open_metadata(tmp_path / "t")[-1].count_keys("record_index") is None


@given(blocks=st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from("abcdef"), max_size=6)), min_size=1, max_size=5))
def test_any_order_of_writes_and_deletes_is_counted(blocks: list[tuple[bool, set[str]]]) -> None:
    there: set[str] = set()
    parts = []
    for is_delete, keys in blocks:
        there = there - keys if is_delete else there | keys
        rows = Keys([key.encode() for key in sorted(keys)])
        parts.append(Part(None, tuple(keys), 1) if is_delete else Part(rows, (), 1))  # type: ignore[arg-type]
    largest = max(range(len(parts)), key=lambda location: 0 if parts[location].file is None else len(parts[location].file or ()))
    assert key_count._count(parts, largest) == len(there)


def test_no_file_groups_hold_no_keys(fixture_table: Callable[[str], Path]) -> None:
    storage, _, timeline, _ = open_metadata(fixture_table(COMPARABLE[0]))
    assert count_keys(storage, [], timeline) == 0
