"""A changed bit in a page is an error that names the file, in base files and in Parquet blocks of log files; `verify` finds it anywhere."""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import files_of, make_table, ride, rows_of

ROWS = [ride(number, "oslo", random.Random(number).randrange(10**9)) for number in range(2000)]
PARQUET_LOGS = {"hoodie.logfile.data.block.format": "parquet"}


def with_flipped_bit(storage: MemoryStorage, path: str, at: int) -> HudiTable:
    copy = storage.copy()
    data = bytearray(copy.read(path))
    data[at] ^= 8
    copy.replace(path, bytes(data))
    return HudiTable(copy)


def in_pages(storage: MemoryStorage, path: str, column: str) -> int:
    """A place in the values of a column of a base file."""
    with storage.open_input(path) as source:
        group = pq.read_metadata(source).row_group(0)
    chunk = next(group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == column)
    start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return int(start + chunk.total_compressed_size * 3 // 4)


@pytest.fixture(scope="module")
def base() -> tuple[MemoryStorage, str]:
    storage = MemoryStorage()
    make_table(storage).bulk_insert(ROWS)
    return storage, next(path for path in files_of(storage) if path.endswith(".parquet") and "/" not in path)


def test_base_file(base) -> None:
    storage, path = base
    damaged = with_flipped_bit(storage, path, in_pages(storage, path, "value"))
    with pytest.raises(CorruptTableError, match=path):
        damaged.to_arrow()
    with pytest.raises(CorruptTableError, match=path):
        damaged.to_arrow(filter="value > 5")
    assert damaged.to_arrow(["id"]).num_rows == len(ROWS)
    unverified = damaged.to_arrow(options={"pyhudi.read.verify.checksums": "false"})
    assert unverified.num_rows == len(ROWS)
    assert unverified["value"].to_pylist() != [row["value"] for row in ROWS]


def test_a_write_does_not_copy_the_damage(base) -> None:
    storage, path = base
    damaged = with_flipped_bit(storage, path, in_pages(storage, path, "value"))
    with pytest.raises(CorruptTableError, match=path):
        damaged.upsert([ride(1)])


def test_search_for_keys(base) -> None:
    storage, path = base
    damaged = with_flipped_bit(storage, path, in_pages(storage, path, "_hoodie_record_key"))
    with pytest.raises(CorruptTableError, match=path):
        damaged.upsert([ride(1)])


def test_parquet_block_of_a_log_file() -> None:
    storage = MemoryStorage()
    table = make_table(storage, table_type="MERGE_ON_READ")
    table.insert(ROWS)
    table.upsert([row | {"value": row["value"] + 1} for row in ROWS], PARQUET_LOGS)
    log = next(path for path in files_of(storage) if ".log." in path and "/" not in path)
    good, content = rows_of(table), storage.read(log)
    noticed = 0
    for at in range(content.index(b"PAR1") + 4, content.rindex(b"PAR1"), len(content) // 40):
        damaged = with_flipped_bit(storage, log, at)
        try:
            assert rows_of(damaged) == good
        except CorruptTableError as error:
            noticed += log in str(error)
    assert noticed > 10


def test_verify_reads_everything(base) -> None:
    storage, path = base
    recorded: list[tuple[int, int]] = []
    assert HudiTable(storage).inspect.verify(lambda done, of: recorded.append((done, of))).num_rows == 0
    assert recorded == [(number + 1, len(recorded)) for number in range(len(recorded))]
    (result,) = with_flipped_bit(storage, path, in_pages(storage, path, "value")).inspect.verify().to_pylist()
    assert (result["path"], result["kind"]) == (path, "base file")
    assert "CRC" in result["problem"]


def test_verify_tells_of_lost_files(base) -> None:
    storage, path = base
    copy = storage.copy()
    copy.delete(path)
    rows = HudiTable(copy).inspect.verify().to_pylist()
    assert any(path in one["problem"] and "is missing" in one["problem"] for one in rows), rows
