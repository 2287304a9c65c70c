"""A file of version 6's archive that is lost in the midst of others is damage; the oldest ones may be deleted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from tests.unit.table.tables import SCHEMA, ride

SETTINGS = {"hoodie.clean.automatic": "false", "hoodie.metadata.enable": "false"}
ARCHIVE = {"hoodie.clean.automatic": "false", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}


def write_and_archive(path: Path, table_type: str) -> HudiTable:
    """Make a table whose archivals left files."""
    options = {"hoodie.write.table.version": "6"}
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], table_type=table_type, options=options)
    for turn in range(9):
        table.upsert([ride(number, value=turn) for number in range(2)], SETTINGS)
        if turn in (4, 6, 8):
            table.services.archive(options=ARCHIVE)
    return table


@pytest.fixture(scope="module", params=["COPY_ON_WRITE", "MERGE_ON_READ", "Apache Hudi"])
def table(request, tmp_path_factory, fixture_table) -> HudiTable:
    """The tables of either writer, each whole."""
    if request.param == "Apache Hudi":
        whole = HudiTable.open(fixture_table("archives/archived_v6"))
    else:
        whole = write_and_archive(Path(tmp_path_factory.mktemp("written"), "t"), request.param)
    assert whole.history().num_rows > 8
    return whole


def archive_files(table: HudiTable) -> list[Path]:
    paths = Path(table.storage.uri, ".hoodie").rglob(".commits_.archive.*")
    return sorted(paths, key=lambda path: int(path.name.split(".")[3].split("_")[0]))


def test_file_lost_behind_older_ones_is_damage(table) -> None:
    """The last one, too: what is active names the writes in it."""
    rows = table.to_arrow().num_rows
    assert len(archive_files(table)) > 1
    for path in archive_files(table)[1:]:
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(CorruptTableError, match=r"archive .* lost a file: write \d{17}, which \d{17} names"):
            table.history()
        assert table.to_arrow().num_rows == rows
        path.write_bytes(content)


def test_oldest_file_may_be_deleted(table, caplog) -> None:
    """Which the log tells, with a write that the history does not have any more."""
    oldest = archive_files(table)[0]
    content, whole = oldest.read_bytes(), table.history().num_rows
    oldest.unlink()
    with caplog.at_level("INFO", "pyhudi.timeline.archive_gaps"):
        assert table.history().num_rows < whole
    oldest.write_bytes(content)
    assert "older writes, such as" in caplog.text


def test_every_damaged_file_is_named(table) -> None:
    """One without a byte, too, the oldest as well: what a writer left that died is in no way told from it, but then nothing is missing."""
    rows = table.to_arrow().num_rows
    for path in archive_files(table):
        content = path.read_bytes()
        for damaged in (b"", content[: len(content) // 2], b"x" + content[1:]):
            path.write_bytes(damaged)
            with pytest.raises(CorruptTableError, match=re.escape(path.name)):
                table.history()
            assert table.to_arrow().num_rows == rows
        path.write_bytes(content)


def test_empty_file_of_a_writer_that_died_is_no_damage(table) -> None:
    last = archive_files(table)[-1]
    whole = table.history().num_rows
    left = last.with_name(last.name.replace(f".archive.{last.name.split('.')[3]}", ".archive.99_1-0-1"))
    left.touch()
    try:
        assert table.history().num_rows == whole
    finally:
        left.unlink()


def test_archive_without_its_older_files_is_read_as_the_error_says(table) -> None:
    files = archive_files(table)
    contents = {path: path.read_bytes() for path in files}
    files[1].unlink()
    with pytest.raises(CorruptTableError) as raised:
        table.history()
    for path in files:
        if f"{path.name}'" in str(raised.value).partition("move ")[2]:
            path.unlink()
    assert table.history().num_rows > 0
    for path, content in contents.items():
        path.write_bytes(content)


def test_write_that_was_given_up_is_no_gap(tmp_path) -> None:
    """Its file was lost, and a rollback, archived by now, says that it does not count."""
    table = write_and_archive(tmp_path / "t", "COPY_ON_WRITE")
    lost = sorted((tmp_path / "t" / ".hoodie").glob("*.commit"))[-2]
    time = lost.name.partition(".")[0]
    lost.unlink()
    table.services.rollback(time)
    for turn in range(6):
        table.upsert([ride(1, value=turn)], SETTINGS)
        table.services.archive(options=ARCHIVE)
    history = table.history()
    assert time not in [row["requested"] for row in history.to_pylist() if row["action"] != "rollback"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_lost_file_of_an_active_write_is_no_matter_of_the_archive(tmp_path, table_type) -> None:
    """The error names the file that is missing: advice to move the archive's files away would help nobody."""
    table = write_and_archive(tmp_path / "t", table_type)
    lost = sorted((tmp_path / "t" / ".hoodie").glob("*commit"))[-2]
    lost.unlink()
    with pytest.raises(CorruptTableError, match=rf"'\.hoodie/{re.escape(lost.name)}' of table .* is missing"):
        table.to_arrow()
    assert lost.name.partition(".")[0] in table.history()["requested"].to_pylist()
