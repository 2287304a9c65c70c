"""Every byte of a log file is covered by the checksum that its commit noted: a changed one is an error that names the file."""

from __future__ import annotations

import zlib

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.spec import log_checksums
from pyhudi.spec.extra_metadata import LOG_CHECKSUM_KEY
from pyhudi.spec.log_checksums import LogChecksum, noted_log_checksums
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.not_none import not_none
from tests.unit.table.tables import files_of, make_table, ride, rows_of

VERSIONS = ("6", "8", "9")
AVRO_LOGS = {"hoodie.logfile.data.block.format": "avro"}
UNVERIFIED = {"pyhudi.read.verify.checksums": "false"}


def made(version: str) -> tuple[MemoryStorage, HudiTable]:
    storage = MemoryStorage()
    table = make_table(storage, table_type="MERGE_ON_READ", options={"hoodie.write.table.version": version})
    table.upsert([ride(number, value=1) for number in range(10)])
    table.upsert([ride(number, value=1_000_000 + number) for number in range(5)], AVRO_LOGS)
    return storage, table


def log_of(storage: MemoryStorage) -> str:
    return next(path for path in files_of(storage) if ".log." in path and not path.startswith(".hoodie/"))


def flipped(storage: MemoryStorage, path: str, at: int) -> HudiTable:
    copy = storage.copy()
    data = bytearray(copy.read(path))
    data[at] ^= 1
    copy.replace(path, bytes(data))
    return HudiTable(copy)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_byte_of_a_log_file(version: str) -> None:
    storage, table = made(version)
    expected = rows_of(table)
    path = log_of(storage)
    for at in range(0, not_none(storage.stat(path)).size, 29):
        damaged = flipped(storage, path, at)
        for query in (rows_of, lambda one: one.count(), lambda one: one.to_arrow(filter="value > 5")):
            with pytest.raises(CorruptTableError, match=path):
                query(damaged)
        assert [damage["path"] for damage in damaged.inspect.verify().to_pylist() if damage["kind"] == "log file"] == [path]
    assert rows_of(table) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_compaction_does_not_merge_a_changed_value(version: str) -> None:
    storage, _ = made(version)
    path = log_of(storage)
    damaged = flipped(storage, path, not_none(storage.stat(path)).size - 30)
    with pytest.raises(CorruptTableError, match=path):
        damaged.services.compact()


def test_the_option_leaves_the_check_out() -> None:
    storage, _ = made("9")
    path, data = log_of(storage), storage.read(log_of(storage))
    damaged = flipped(storage, path, data.rindex(b"oslo"))
    assert "nslo" in damaged.to_arrow(options=UNVERIFIED)["city"].to_pylist()
    with pytest.raises(CorruptTableError, match=path):
        damaged.to_arrow()


def test_logs_of_commits_that_noted_nothing_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_checksums, "MOST_NOTED_FILES", 0)
    storage, table = made("9")
    assert len(rows_of(table)) == 10
    monkeypatch.undo()
    assert len(rows_of(HudiTable(storage))) == 10
    assert table.inspect.verify().num_rows == 0


def test_bytes_that_another_writer_appends_in_version_6_are_not_covered() -> None:
    storage, table = made("6")
    expected, path = rows_of(table), log_of(storage)
    storage.replace(path, storage.read(path) + b"#HUDI#rest of a killed writer")
    assert rows_of(HudiTable(storage)) == expected


def test_a_damaged_note_is_told_from_a_damaged_log() -> None:
    note = log_checksums.log_checksum_note({"p/a.log": LogChecksum(7, zlib.crc32(b"abcdefg"))})[LOG_CHECKSUM_KEY]
    assert noted_log_checksums(note) == {"p/a.log": LogChecksum(7, zlib.crc32(b"abcdefg"))}
    with pytest.raises(CorruptTableError, match="extra metadata"):
        noted_log_checksums(note.replace("a.log", "b.log"))
    text = '["no map"]'
    with pytest.raises(CorruptTableError, match="no checksums"):
        noted_log_checksums(f"{zlib.crc32(text.encode()):08x} {text}")


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_change_data_of_a_changed_log(kind: str) -> None:
    storage = MemoryStorage()
    table = make_table(storage, table_type=kind, options={"hoodie.table.cdc.enabled": "true"})
    table.upsert([ride(number, value=1) for number in range(10)])
    table.upsert([ride(number, value=1_000_000 + number) for number in range(5)], AVRO_LOGS)
    path = log_of(storage)
    damaged = flipped(storage, path, not_none(storage.stat(path)).size - 30)
    with pytest.raises(CorruptTableError, match=path):
        damaged.changes(format="cdc")


def test_bytes_behind_what_a_commit_wrote_take_no_row_of_version_6() -> None:
    storage, table = made("6")
    expected = rows_of(table)
    path = log_of(storage)
    storage.replace(path, storage.read(path) + bytes(100))
    options = {"hoodie.metadata.enable": "false"}
    assert sorted(map(str, HudiTable(storage).to_arrow(options=options).to_pylist())) == sorted(map(str, table.to_arrow().to_pylist()))
    HudiTable(storage).services.compact(options={"hoodie.compact.inline.max.delta.commits": "1", **options})
    assert rows_of(HudiTable(storage)) == expected
