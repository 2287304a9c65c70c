"""A table whose timeline is missing is damaged, and not empty; a table that nobody wrote to yet is empty."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from tests.unit.table.tables import make_table, ride

SCHEMA = pa.schema([("id", pa.int64()), ("p", pa.string()), ("v", pa.int64())])
ROW = {"id": 1, "p": "a", "v": 1}
DOORS = {
    "open and read": lambda table: HudiTable.open(table.storage.uri).to_arrow(),
    "read": lambda table: table.to_arrow(),
    "count": lambda table: table.inspect.health(),
    "changes": lambda table: table.changes(since="earliest"),
    "upsert": lambda table: table.upsert([ROW]),
    "delete": lambda table: table.delete([{"id": 1, "p": "a"}]),
    "insert": lambda table: table.insert([ROW]),
}


def written(path: Path, version: int, *, partitioned: bool = True, merge_on_read: bool = False) -> HudiTable:
    table = HudiTable.create(
        str(path),
        SCHEMA,
        name="t",
        keys=["id"],
        partition_by=["p"] if partitioned else [],
        table_type="MERGE_ON_READ" if merge_on_read else "COPY_ON_WRITE",
        options={"hoodie.write.table.version": str(version)},
    )
    table.upsert([ROW])
    return table


def lose_timeline(path: Path, version: int) -> None:
    if version == 6:
        for file in (path / ".hoodie").iterdir():
            if file.name[0].isdigit():
                file.unlink()
    else:
        shutil.rmtree(path / ".hoodie" / "timeline")


def misname_timeline(path: Path) -> None:
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    assert "hoodie.timeline.path=timeline" in text
    properties.write_text(text.replace("hoodie.timeline.path=timeline", "hoodie.timeline.path=timdline"))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("version", [6, 8, 9])
def test_table_without_its_timeline_is_damaged(tmp_path, version, door) -> None:
    table = written(tmp_path / "t", version)
    lose_timeline(tmp_path / "t", version)
    files = sorted((tmp_path / "t").rglob("*.parquet"))
    with pytest.raises(CorruptTableError, match=r"shows no instant, but a writer left 'a/.*Restore that folder"):
        DOORS[door](table)
    assert sorted((tmp_path / "t").rglob("*.parquet")) == files


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("version", [8, 9])
def test_table_with_a_changed_path_of_its_timeline_is_damaged(tmp_path, version, door) -> None:
    table = written(tmp_path / "t", version)
    misname_timeline(tmp_path / "t")
    with pytest.raises(CorruptTableError, match=r"'\.hoodie/timdline'.*there are instants in '\.hoodie/timeline'.*hoodie\.timeline\.path"):
        DOORS[door](HudiTable.open(table.storage.uri))


@pytest.mark.parametrize("partitioned", [True, False])
@pytest.mark.parametrize("merge_on_read", [True, False])
def test_every_kind_of_table_shows_that_it_was_written_to(tmp_path, partitioned, merge_on_read) -> None:
    written(tmp_path / "t", 9, partitioned=partitioned, merge_on_read=merge_on_read)
    lose_timeline(tmp_path / "t", 9)
    shutil.rmtree(tmp_path / "t" / ".hoodie" / "metadata", ignore_errors=True)
    for file in (tmp_path / "t").rglob(".hoodie_partition_metadata"):
        file.unlink()
    with pytest.raises(CorruptTableError, match="shows no instant"):
        HudiTable.open(str(tmp_path / "t")).to_arrow()


@pytest.mark.parametrize("version", [6, 8, 9])
def test_new_table_is_empty_though_copies_leave_out_empty_folders(tmp_path, version) -> None:
    table = HudiTable.create(str(tmp_path / "t"), SCHEMA, name="t", keys=["id"], options={"hoodie.write.table.version": str(version)})
    for folder in sorted((tmp_path / "t" / ".hoodie").rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    (tmp_path / "t" / "notes").mkdir()
    (tmp_path / "t" / "notes" / "read me.txt").write_text("not of a table")
    assert HudiTable.open(table.storage.uri).to_arrow().num_rows == 0
    table.upsert([ROW])
    assert table.to_arrow().num_rows == 1


def test_first_write_that_begins_while_a_reader_looks_is_no_damage(monkeypatch) -> None:
    """The reader lists an empty timeline, then a writer starts, then the reader finds the writer's files."""
    table = make_table()
    storage_type = type(table.storage)
    listing, is_first = storage_type.file_names, [True]

    def file_names(storage, path):
        result = listing(storage, path)
        if path == ".hoodie/timeline" and is_first:
            is_first.clear()
            make_table_again = HudiTable(table.storage)
            make_table_again.upsert([ride(1)])
        return result

    monkeypatch.setattr(storage_type, "file_names", file_names)
    assert table.to_arrow().num_rows == 1
