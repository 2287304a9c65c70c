"""A flipped bit in Hudi's entries of a footer is an error: it would hide keys, and an upsert would insert their records again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError

ROWS = [{"id": f"key{number}", "v": number} for number in range(1000)]
SCHEMA = pa.schema({"id": pa.string(), "v": pa.int64()})


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> HudiTable:
    made = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type=request.param)
    made.bulk_insert(ROWS)
    return made


def base_file(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "t").glob("*.parquet")
    return path


def change_entry(path: Path, name: str, *, entry: str | None = None) -> None:
    """Put another letter into the middle of an entry of the footer, or another name in the place of its name."""
    content = path.read_bytes()
    value = pq.ParquetFile(path).metadata.metadata[name.encode()]
    at = content.rindex(value if entry is None else name.encode())
    middle = at + len(value) // 2
    changed = content[:middle] + (b"A" if content[middle : middle + 1] != b"A" else b"B") + content[middle + 1 :]
    path.write_bytes(changed if entry is None else content[:at] + entry.encode() + content[at + len(name) :])


@pytest.mark.parametrize("name", ["org.apache.hudi.bloomfilter", "hoodie_min_record_key", "hoodie_max_record_key", "pyhudi.footer.crc"])
@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE", "GLOBAL_BLOOM"])
def test_a_changed_entry_is_named_before_records_are_doubled(table: HudiTable, tmp_path: Path, name: str, index: str) -> None:
    path = base_file(tmp_path)
    change_entry(path, name)
    with pytest.raises(CorruptTableError, match=f"{path.name}.*footer"):
        table.upsert([{"id": "key7", "v": 0}], {"hoodie.index.type": index})
    assert table.count() == len(ROWS)
    (damage,) = table.inspect.verify().to_pylist()
    assert damage["path"] == path.name
    assert "footer" in damage["problem"]


def test_an_entry_under_another_name_is_noticed(table: HudiTable, tmp_path: Path) -> None:
    change_entry(base_file(tmp_path), "hoodie_min_record_key", entry="hoodie_min_record_kez")
    with pytest.raises(CorruptTableError, match="footer"):
        table.upsert([{"id": "key7", "v": 0}])


def test_files_of_other_writers_have_no_checksum(table: HudiTable, tmp_path: Path) -> None:
    change_entry(base_file(tmp_path), "pyhudi.footer.crc", entry="another.entry.crc")
    assert table.upsert([{"id": "key7", "v": 0}]).updated == 1
