"""What an index records of a commit is read from log files that are as their commits wrote them."""

from __future__ import annotations

import pytest

from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.errors import CorruptTableError
from pyhudi.spec.files.log_block import BlockType
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import files_of, make_table, ride, rows_of

#: The index that is asked finds the deleted record in its base file: for the commit it is an update, for the record index a new key.
SIMPLE = {"hoodie.index.type": "SIMPLE", "hoodie.metadata.record.index.enable": "true"}
BLOCK_TYPE_AT = 6 + 8 + 4 + 3


def deleted_record(storage: MemoryStorage) -> str:
    """Write two records, delete one by a log file, and return the log's path."""
    table = make_table(storage, table_type="MERGE_ON_READ")
    table.insert([ride(1), ride(2)], SIMPLE)
    table.delete([{"id": 1}], options=SIMPLE)
    (log,) = (path for path in files_of(storage) if ".log." in path and ".hoodie/" not in path)
    return log


def test_record_that_a_log_deleted_enters_the_record_index_again() -> None:
    storage = MemoryStorage()
    deleted_record(storage)
    table = HudiTable(storage)
    table.upsert([ride(1, value=5)], SIMPLE)
    table.upsert([ride(1, value=6)], {"hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"})
    assert [row["value"] for row in rows_of(table)] == [6, 0]
    assert table.inspect.health().num_rows == 0


def test_delete_block_that_became_another_is_not_taken_for_no_delete() -> None:
    storage = MemoryStorage()
    log = deleted_record(storage)
    data = bytearray(storage.read(log))
    with storage.open_input(log) as source:
        (block,) = (block for block in scan_blocks(source, log, len(data)) if block.type is BlockType.DELETE)
    data[block.offset + BLOCK_TYPE_AT] ^= 2
    storage.delete(log)
    storage.create(log, bytes(data))
    with pytest.raises(CorruptTableError, match="CRC-32"):
        HudiTable(storage).upsert([ride(1, value=5)], SIMPLE)
