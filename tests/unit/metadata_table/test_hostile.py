"""Forged and damaged metadata tables give typed errors; nothing outside the table is ever named."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi.codec.hfile import HFileReader
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.metadata_table.format.record import FileEntry, FileList, RecordLocation, RecordType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.writer_table import FOLDER, open_writer_table
from pyhudi.metadata_table.write.data_table_changes import Changes
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import store_properties
from tests.tables import unpack
from tests.unit.crash.tables import StoppedClock, stored_table
from tests.unit.metadata_table.replays import contents, metadata_table, prepared, sources, timeline_of

ENCODER = RecordEncoder(9)
RECORD = ENCODER.encode(FileList(RecordType.FILES, {"a.parquet": FileEntry(7), "b.parquet": FileEntry(0, is_deleted=True)}))


@pytest.fixture
def storage() -> MemoryStorage:
    table, _ = stored_table()
    prepared(table, timeline_of(table))
    return table


def forge(storage: MemoryStorage, **records: FileList | RecordLocation) -> None:
    """Put records of our own into the partition `files`, under an instant that is long complete."""
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    write_changes(mdt, mdt.next_time(), {"files": Changes(records)})


@pytest.mark.parametrize("name", ["../x.parquet", "a/b.parquet", "..", ".", "", "c:\\x.parquet"])
def test_file_outside_its_partition_is_refused(storage, name) -> None:
    forge(storage, oslo=FileList(RecordType.FILES, {name: FileEntry(1)}))
    with pytest.raises(CorruptTableError, match="lists the file"):
        metadata_table(storage).files("oslo")


def test_negative_size_is_refused(storage) -> None:
    forge(storage, oslo=FileList(RecordType.FILES, {"a.parquet": FileEntry(-1)}))
    with pytest.raises(CorruptTableError, match="-1 bytes"):
        metadata_table(storage).files("oslo")


@pytest.mark.parametrize("path", ["../other", "/etc", "a/../..", ".hoodie/metadata", "a//b"])
def test_partition_outside_the_table_is_refused(storage, path) -> None:
    forge(storage, __all_partitions__=FileList(RecordType.ALL_PARTITIONS, {path: FileEntry(0)}))
    with pytest.raises(CorruptTableError, match="partition"):
        metadata_table(storage).partition_paths()


def test_record_of_another_kind_is_refused(storage) -> None:
    forge(storage, bern=RecordLocation("p", "f-0"))
    with pytest.raises(CorruptTableError, match="RecordLocation"):
        metadata_table(storage).files("bern")


def test_unknown_partition_has_no_files(storage) -> None:
    assert metadata_table(storage).files("nowhere") == []


def test_index_that_is_not_there_is_named_with_those_that_are(storage) -> None:
    with pytest.raises(UnsupportedError, match="record_index; it has column_stats, files, partition_stats"):
        metadata_table(storage).lookup_record_keys(["k"])


def test_partition_without_files_is_refused_and_not_taken_for_empty(storage) -> None:
    storage.delete_tree(f"{FOLDER}/files")
    with pytest.raises(CorruptTableError, match="is missing: commit"):
        metadata_table(storage).partition_paths()


def test_definitions_that_are_missing_or_damaged_are_refused(storage) -> None:
    path = ".hoodie/.index_defs/index.json"
    for change in (lambda: storage.replace(path, b"{"), lambda: storage.delete(path)):
        change()
        with pytest.raises(CorruptTableError, match=r"index\.json"):
            _ = metadata_table(storage).definitions


def test_metadata_table_of_another_version_is_refused(storage) -> None:
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    store_properties(mdt.storage, {"hoodie.table.version": "8"}, sources().clock.now())
    with pytest.raises(CorruptTableError, match="version 8"):
        metadata_table(storage)


def test_file_groups_that_are_not_numbered_through_are_refused(tmp_path) -> None:
    storage = LocalStorage(str(unpack("cow/v9_txns_simple_overwrite", tmp_path)))
    folder = f"{FOLDER}/record_index"
    for file in storage.list(folder):
        if "record-index-0003-0" in file.name:
            storage.create(file.path.replace("record-index-0003-0", "record-index-us-0003-0"), storage.read(file.path))
    with pytest.raises(UnsupportedError, match="served are those numbered from record-index-0000-0 on"):
        metadata_table(storage).lookup_record_keys(["k"])


@pytest.mark.parametrize("end", range(len(RECORD)))
def test_cut_record_is_refused(end) -> None:
    with pytest.raises(CorruptTableError):
        RecordDecoder(ENCODER.file_schema, "it").decode(RECORD[:end])


@given(st.binary(max_size=60))
def test_any_bytes_give_a_record_or_a_typed_error(data) -> None:
    with contextlib.suppress(CorruptTableError):
        RecordDecoder(ENCODER.file_schema, "it").decode(data)


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_byte_of_any_file_gives_records_or_a_typed_error(storage, data) -> None:
    copy = storage.copy()
    folders = [f"{FOLDER}/{name}" for name in ("files", "column_stats", "partition_stats")]
    files = [file for folder in folders for file in copy.list(folder) if file.name != PARTITION_METAFILE]
    file = data.draw(st.sampled_from(files))
    content = bytearray(copy.read(file.path))
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    copy.replace(file.path, bytes(content))
    with contextlib.suppress(CorruptTableError, UnsupportedError):
        contents(copy)
    copy.drop()


def test_every_record_of_the_fixtures_is_encoded_to_the_same_bytes(fixture_table) -> None:
    """But for the file name that compactions of Apache Hudi put into the meta fields, and fields that releases before 1.2 did not have."""
    count, same = 0, 0
    by_0_15 = "metadata_tables/hudi_0_15_0_v6"
    for name in ("cow/v9_txns_simple_meta", "mor/avro/v8_trips_8i3u1d", "cow/v9_timebasedkeygen_epochmillis", by_0_15):
        for path in (fixture_table(name) / FOLDER).rglob("*.hfile"):
            data = path.read_bytes()
            file = HFileReader(io.BytesIO(data), len(data))
            schema = file.info["schema"].decode()
            for _, value in file.entries():
                plain = value if value[4] == 0 else bytes(5) + value.partition(path.name.encode())[2]
                record = RecordDecoder(schema, "it").decode(value)
                encoded = ENCODER.encode(record)
                assert (
                    encoded == plain
                    if schema == ENCODER.file_schema
                    else RecordDecoder(ENCODER.file_schema, "it").decode(encoded) == record
                )
                count, same = count + 1, same + (encoded == plain)
    assert count > same > 100


def test_damaged_block_of_a_committed_log_file_is_refused(storage) -> None:
    forge(storage, oslo=FileList(RecordType.FILES, {"a.parquet": FileEntry(1)}))
    table = metadata_table(storage)
    files = table.partition("files")
    path = f"{FOLDER}/{files.slices[0].logs[-1].path}"
    data = storage.read(path)
    storage.delete(path)
    storage.create(path, data[:-8] + bytes(8))  # the block's length at its end
    queries = (
        lambda: table.files("oslo"),
        lambda: list(files.scan_cells(["o"])),
        lambda: list(files.get_cells(["oslo"])),
        lambda: table.count_keys("files"),
    )
    for query in queries:
        with pytest.raises(CorruptTableError, match="are damaged, and with them rows of commit"):
            query()


def test_file_replaced_by_another_of_its_name_and_size_is_read_again(storage) -> None:
    other = storage.copy()
    for table, name in ((storage, "a.parquet"), (other, "b.parquet")):
        mdt = open_writer_table(table, sources(StoppedClock()))
        assert mdt is not None
        write_changes(mdt, mdt.next_time(), {"files": Changes({"oslo": FileList(RecordType.FILES, {name: FileEntry(7)})})})
    logs = [max(status.path for status in table.list(f"{FOLDER}/files") if ".log." in status.path) for table in (storage, other)]
    before, after = storage.read(logs[0]), other.read(logs[1])
    assert logs[0] == logs[1]
    assert len(before) == len(after)
    assert "a.parquet" in metadata_table(storage).sizes("oslo")
    storage.replace(logs[0], after)
    assert {"a.parquet", "b.parquet"} & metadata_table(storage).sizes("oslo").keys() == {"b.parquet"}
