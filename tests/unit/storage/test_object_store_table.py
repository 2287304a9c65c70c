"""A whole table on an object store: written under a lock file, read without one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import UnsupportedError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote.object_store import ObjectStorage
from pyhudi.table.create_new_table import create_table
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock

pytest.importorskip("fsspec")

URL = "memory://bucket-with-a-table/rides"
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


@pytest.fixture
def table(tmp_path):
    storage = ObjectStorage(URL, ((LOCK_FILE_OPTION, str(tmp_path / "lock")),))
    create_table(
        storage,
        SCHEMA,
        name="rides",
        keys=["id"],
        partition_by=["city"],
        order_by=[],
        table_type="COPY_ON_WRITE",
        options={},
        clock=SystemClock(),
    )
    yield HudiTable(storage)
    for status in storage.list(""):
        storage.delete_tree(status.path)


def test_table_on_an_object_store_is_written_and_read(table) -> None:
    table.insert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    table.upsert([{"id": 3, "city": "rome"}])
    table.delete(where="id = 1")
    reader = HudiTable(ObjectStorage(URL))
    assert sorted(row["id"] for row in reader.to_arrow().to_pylist()) == [2, 3]


def test_table_on_an_object_store_is_not_written_without_a_lock(table) -> None:
    with pytest.raises(UnsupportedError, match=r"pyhudi\.lock\.file"):
        HudiTable(ObjectStorage(URL)).insert([{"id": 1, "city": "oslo"}])
