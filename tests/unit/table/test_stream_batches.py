"""Which batches of a stream a table has: by the stream's name and Spark's query id."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, UsageError
from pyhudi.table.stream_batches import StreamBatch, is_written

SCHEMA = pa.schema({"id": pa.int64()})


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])


def write(table: HudiTable, extra_metadata: dict[str, str]) -> None:
    table.upsert([{"id": 1}], options=extra_metadata)


def batch(number: int, query: str = "q", identifier: str = "s") -> StreamBatch:
    return StreamBatch(identifier, query, number)


def test_a_batch_is_written_when_its_commit_or_a_later_one_is_there(table: HudiTable) -> None:
    assert not is_written(table.storage, batch(0))
    for number in (0, 1):
        write(table, batch(number).extra_metadata)
    table.upsert([{"id": 2}])
    assert [is_written(table.storage, batch(number)) for number in range(3)] == [True, True, False]


def test_streams_are_told_apart_by_name_and_by_query(table: HudiTable) -> None:
    write(table, batch(5).extra_metadata)
    write(table, batch(0, "other").extra_metadata)
    assert is_written(table.storage, batch(5))
    assert not is_written(table.storage, batch(1, "other"))
    assert not is_written(table.storage, batch(5, identifier="another"))


def test_a_commit_of_apache_hudi_counts_for_its_own_batch_only(table: HudiTable) -> None:
    write(table, {"_hudi_streaming_sink_checkpoint": '{"s":"3"}'})
    assert is_written(table.storage, batch(3))
    assert not is_written(table.storage, batch(4))
    with pytest.raises(UsageError, match="checkpoint"):
        is_written(table.storage, batch(2))


def test_a_damaged_entry_is_an_error(table: HudiTable) -> None:
    write(table, {"_hudi_streaming_sink_checkpoint": "3"})
    with pytest.raises(CorruptTableError, match="checkpoint"):
        is_written(table.storage, batch(3))


def test_options_that_begin_with_the_prefix_go_into_the_commit(table: HudiTable) -> None:
    prefix = {"hoodie.datasource.write.commitmeta.key.prefix": "my."}
    written = table.upsert([{"id": 1}], options={"my.job": "nightly", **prefix})
    assert written.instant is not None
    (file,) = [path for path in Path(table.storage.uri, ".hoodie", "timeline").iterdir() if path.name.endswith(".commit")]
    assert b"nightly" in file.read_bytes()
