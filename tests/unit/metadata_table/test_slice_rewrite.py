"""The next base file of a slice: what its logs change, and all else as it was, whether blocks are copied or spliced."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.hfile import HFileReader, HFileWriter, StoredBlock
from pyhudi.codec.hfile.block import HEADER
from pyhudi.codec.log.log_content import encode_deletes
from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format import cell_blocks
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.metadata_table.format.record import MetadataRecord, RecordLocation, SecondaryEntry
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.slice_files import SliceFiles
from pyhudi.metadata_table.read.slice_rewrite import BaseRewrite
from pyhudi.metadata_table.write import hfile_base_writer
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.metadata_table.older_encoder import older_encoder

ENCODER, OLD_ENCODER = RecordEncoder(9), older_encoder()
SECONDARY = "secondary_index_x"
FILE_IDS = ("11111111-1111-1111-1111-111111111111-0", "a file id of Flink's")
_Log = Mapping[str, MetadataRecord | None]


def hfile(
    records: Mapping[str, MetadataRecord], encoder: RecordEncoder = ENCODER, bloom: str | None = None, block_bytes: int = 300
) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=0, block_bytes=block_bytes)
    for row, key in sorted((key.encode(), key) for key in records):
        writer.append(row, encoder.encode(records[key]))
    info = {"schema": encoder.file_schema.encode(), "bloomFilterTypeCode": b"DYNAMIC_V0"}
    writer.finish(info=info, meta_blocks={} if bloom is None else {"bloomFilter": bloom.encode()})
    return sink.getvalue()


def open_file(data: bytes) -> HFileReader:
    return HFileReader(io.BytesIO(data), len(data), "base.hfile")


class Files:
    """A base file and logs in memory: each a delete block, then a block of records."""

    def __init__(self, base: bytes | None, logs: Sequence[_Log], encoder: RecordEncoder) -> None:
        self._base, self._logs, self._encoder = base, logs, encoder

    def base(self) -> tuple[HFileReader, str, str] | None:
        if self._base is None:
            return None
        file = open_file(self._base)
        return file, file.info["schema"].decode(), "base.hfile"

    def blocks(self) -> Iterator[tuple[BinaryIO, LogBlock]]:
        for number, log in enumerate(self._logs):
            deleted = tuple(sorted(key for key, record in log.items() if record is None))
            content = encode_deletes(DeletedKeys(deleted, ("p",) * len(deleted), (COMMIT_TIME_DELETE,) * len(deleted)))
            header = BlockHeader(instant=f"{number:017d}", schema_json=self._encoder.file_schema)
            data = encode_block(BlockType.DELETE, header, content)
            if records := {key: record for key, record in log.items() if record is not None}:
                data += encode_block(BlockType.HFILE, header, hfile(records, self._encoder))
            yield from ((io.BytesIO(data), block) for block in scan_blocks(io.BytesIO(data), f"{number}.log", len(data)))


def rewritten(
    base: bytes | None, logs: Sequence[_Log], partition: str = RECORD_INDEX, encoder: RecordEncoder = ENCODER, *, copies: bool = True
) -> tuple[bytes, int]:
    """Return the new file, and how many of its blocks were copied."""
    rewrite = BaseRewrite(cast("SliceFiles", Files(base, logs, encoder)), partition, ENCODER)
    sink, count, known = io.BytesIO(), 0, 0
    writer = HFileWriter(sink, created_ms=0)
    for block in rewrite.blocks(copies=copies):
        if isinstance(block, StoredBlock):
            assert len(writer), "the rows of the first block are known"
            writer.append_stored(block)
            count += 1
        else:
            writer.append_block(block.block)
            known += len(block.rows)
    copied = rewrite.copied_cells()
    writer.count_stored(copied.entries, copied.row_bytes, copied.value_bytes)
    assert len(writer) == known + copied.entries
    writer.finish(info={"schema": ENCODER.file_schema.encode()})
    return sink.getvalue(), count


def records_of(data: bytes) -> dict[str, MetadataRecord]:
    file, decoder = open_file(data), RecordDecoder(ENCODER.file_schema, "new.hfile")
    records = {row.decode(): decoder.decode(value) for row, value in file.entries()}
    rows = [key.encode() for key in records]
    assert [row for row, _ in file.get_many(rows)] == rows, "each row is found by the index"
    assert len(file) == len(records)
    if rows:
        assert file.info["hfile.LASTKEY"][2 : 2 + len(rows[-1])] == rows[-1]
    return records


def expected(base: Mapping[str, MetadataRecord], logs: Sequence[_Log]) -> dict[str, MetadataRecord]:
    result = dict(base)
    for log in logs:
        for key, record in log.items():
            if record is None or (isinstance(record, SecondaryEntry) and record.is_deleted):
                result.pop(key, None)
            else:
                result[key] = record
    return result


KEYS = st.one_of(st.integers(0, 99).map("key-{:03d}".format), st.text("aé\x00", max_size=3))
LOCATIONS = st.builds(RecordLocation, st.sampled_from(["", "p"]), st.sampled_from(FILE_IDS), st.integers(0, 3))
LOGS = st.lists(st.dictionaries(KEYS, st.none() | LOCATIONS, max_size=8), max_size=4)


@given(st.dictionaries(KEYS, LOCATIONS, max_size=70), LOGS, st.sampled_from([120, 300, 5000]), st.booleans(), st.booleans())
def test_base_file_and_logs_become_what_they_say_together(base, logs, block_bytes, has_base, copies) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_blocks, "BLOCK_BYTES", block_bytes)
        if not has_base:
            logs, base = [base, *logs], {}
        data, _ = rewritten(hfile(base, block_bytes=block_bytes) if has_base else None, logs, copies=copies)
    assert records_of(data) == expected(base, logs)


@given(st.dictionaries(KEYS, st.builds(SecondaryEntry, st.booleans())), LOGS.map(lambda logs: [*map(_secondary, logs)]))
def test_marks_of_deletes_in_the_oldest_log_are_left_out(oldest, logs) -> None:
    data, copied = rewritten(None, [oldest, *logs], SECONDARY)
    assert (records_of(data), copied) == (expected({}, [oldest, *logs]), 0)


def _secondary(log: Mapping[str, object]) -> dict[str, MetadataRecord | None]:
    return {key: SecondaryEntry(is_deleted=record is None) for key, record in log.items()}


@pytest.mark.parametrize("encoders", [(OLD_ENCODER, ENCODER), (ENCODER, OLD_ENCODER), (OLD_ENCODER, OLD_ENCODER)])
def test_records_of_another_schema_are_written_in_that_of_the_table(encoders) -> None:
    of_base, of_log = encoders
    base = {f"key-{number:03d}": RecordLocation("p", FILE_IDS[0], number) for number in range(50)}
    log = {"key-010": RecordLocation("q", FILE_IDS[1], 7), "key-020": None, "other": RecordLocation("r", FILE_IDS[1], 8)}
    data, copied = rewritten(hfile(base, of_base), [log], encoder=of_log)
    assert records_of(data) == expected(base, [log])
    assert (copied > 0) == (of_base is ENCODER)


BASE = {f"key-{number:04d}": RecordLocation("p", FILE_IDS[0], 1) for number in range(3000)}
FEW = dict(list(BASE.items())[:300])
LOG = {"key-0007": RecordLocation("q", FILE_IDS[0], 2), "key-1500": None, "key-1500x": RecordLocation("q", FILE_IDS[0], 3)}


def test_blocks_that_no_log_changes_are_copied_as_they_are() -> None:
    base = hfile(BASE, block_bytes=3000)
    data, copied = rewritten(base, [LOG])
    assert records_of(data) == expected(BASE, [LOG])
    stored = [block.packed for block in open_file(base).stored_blocks()]
    assert copied == len(stored) - 3  # without the first, where key-0007 is as well, that of key-1500, and the last
    payloads = {packed.data[HEADER.size : HEADER.size + packed.header.payload_size] for packed in stored}
    new = [block.packed for block in open_file(data).stored_blocks()]
    assert sum(packed.data[HEADER.size : HEADER.size + packed.header.payload_size] in payloads for packed in new) >= copied


def test_lengths_of_rows_and_values_of_copied_cells_are_those_of_the_file() -> None:
    base = hfile(BASE, block_bytes=3000)
    info, new = open_file(base).info, open_file(rewritten(base, [LOG])[0]).info
    names = ("hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN")
    assert [new[name] for name in names] == [info[name] for name in names]


def test_block_that_grows_too_large_is_divided(monkeypatch) -> None:
    monkeypatch.setattr(cell_blocks, "BLOCK_BYTES", 1000)
    log = {f"key-0005-{number}": RecordLocation("q", FILE_IDS[0], 2) for number in range(100)}
    data, _ = rewritten(hfile(BASE, block_bytes=1000), [log])
    assert records_of(data) == expected(BASE, [log])
    assert max(block.size for block in open_file(data).stored_blocks()) <= 2000


def test_file_of_which_nothing_is_left() -> None:
    data, copied = rewritten(hfile(BASE), [dict.fromkeys(BASE)])
    assert (records_of(data), copied) == ({}, 0)


def test_ends_that_are_deleted_leave_blocks_with_known_rows_at_both_ends() -> None:
    log = dict.fromkeys([*list(BASE)[:400], *list(BASE)[-400:]])
    data, copied = rewritten(hfile(BASE), [log])
    assert records_of(data) == expected(BASE, [log])
    assert copied > 100


def test_damage_of_a_copied_block_is_still_found_by_who_reads_it() -> None:
    damaged = bytearray(hfile(BASE, block_bytes=3000))
    (*_, before, _, _) = open_file(bytes(damaged)).stored_blocks()
    at = bytes(damaged).index(before.packed.data) + HEADER.size + 40
    damaged[at] ^= 0xFF
    data, copied = rewritten(bytes(damaged), [LOG])
    assert copied
    with pytest.raises(CorruptTableError, match=r"cannot be unpacked|does not unpack"):
        list(open_file(data).entries())


def test_header_of_a_copied_block_that_is_damaged_is_refused() -> None:
    damaged = bytearray(hfile(BASE, block_bytes=3000))
    (*_, before, _, _) = open_file(bytes(damaged)).stored_blocks()
    damaged[bytes(damaged).index(before.packed.data)] ^= 0xFF
    with pytest.raises(CorruptTableError, match="no block of an HFile"):
        rewritten(bytes(damaged), [LOG])


def test_key_that_a_base_file_holds_twice_is_refused() -> None:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=0)
    value = ENCODER.encode(RecordLocation("p", FILE_IDS[0], 1))
    writer.append(b"key-1", value)
    writer.append(b"key-2", value)
    writer.finish(info={"schema": ENCODER.file_schema.encode()})
    twice = HFileWriter(repeated := io.BytesIO(), created_ms=0)
    (block,) = open_file(sink.getvalue()).blocks()
    whole = block.whole()
    twice.append_block(type(whole)(whole.payload.replace(b"key-2", b"key-1"), whole.starts, whole.row_bytes, whole.value_bytes))
    twice.finish(info={"schema": ENCODER.file_schema.encode()})
    with pytest.raises(CorruptTableError, match="holds a key twice"):
        rewritten(repeated.getvalue(), [{"key-1": None}])


class Table:
    """What writing a base file takes of the metadata table."""

    def __init__(self) -> None:
        self.storage, self.encoder, self.sources = MemoryStorage(), ENCODER, self

    def now_ms(self) -> int:
        return 0


@pytest.mark.parametrize("entries", [2, 4000])
def test_filter_of_the_new_file_knows_all_keys(entries, monkeypatch) -> None:
    """Also when it is that of the file before, of which few rows are read, or when all of its bits are set."""
    monkeypatch.setattr(hfile_base_writer, "_BLOOM_ENTRIES", entries)
    monkeypatch.setattr(hfile_base_writer, "_BLOOM_MAX_ENTRIES", 10 * entries)
    bloom = hfile_base_writer._empty_filter()
    bloom.add(hfile_base_writer._concat([key.encode() for key in BASE]))
    base, table = hfile(BASE, bloom=bloom.encode(), block_bytes=3000), Table()
    rewrite = BaseRewrite(cast("SliceFiles", Files(base, [LOG], ENCODER)), RECORD_INDEX, ENCODER)
    stat = hfile_base_writer.rewrite_base(cast("Any", table), RECORD_INDEX, "group-0", "1", "0-0-0", rewrite)
    data = table.storage.read(stat.path or "")
    new = BaseRewrite(cast("SliceFiles", Files(data, [], ENCODER)), RECORD_INDEX, ENCODER).stored_filter(10 * entries)
    assert stat.num_writes == len(BASE)
    assert new is not None
    known = new.decode()
    assert all(known.might_contain(key) for key in records_of(data))
    assert known.might_contain("never written") == (entries == 2)


def test_keys_of_a_file_without_filter_are_all_read_for_one() -> None:
    rewrite = BaseRewrite(cast("SliceFiles", Files(hfile(FEW), [LOG], ENCODER)), RECORD_INDEX, ENCODER)
    stat = hfile_base_writer.rewrite_base(cast("Any", table := Table()), RECORD_INDEX, "group-0", "1", "0-0-0", rewrite)
    data = table.storage.read(stat.path or "")
    bloom = BaseRewrite(cast("SliceFiles", Files(data, [], ENCODER)), RECORD_INDEX, ENCODER).stored_filter(100_000)
    assert bloom is not None
    known = bloom.decode()
    assert all(known.might_contain(key) for key in records_of(data))
    assert not known.might_contain("never written")
