"""A file of the metadata table that is lost, cut or longer than its commit states: no reader trusts the rest, no writer builds on it."""

from __future__ import annotations

from functools import cache

import pytest

from pyhudi.fsview.committed_sizes import stated_files
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.table.tables import by_id, make_table, ride, rows_of

OPTIONS = {
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
}
OF_VERSION_6 = ("files", "column_stats", "bloom_filters", "record_index")
OF_VERSION_9 = (*OF_VERSION_6, "secondary_index_by_value", "expr_index_low")
#: Copy-on-write: merge-on-read tables have no statistics of partitions.
OF_VERSION_8 = (*OF_VERSION_9, "partition_stats")
WAYS = {
    "gone": None,
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + bytes(100),
}
CASES = [
    (version, partition, how)
    for version, partitions in (("6", OF_VERSION_6), ("8", OF_VERSION_8), ("9", OF_VERSION_9))
    for partition in partitions
    for how in WAYS
    if (version, how) != ("6", "longer") and (partition == "files" or how in ("gone", "cut"))
]


@cache
def written(version: str) -> MemoryStorage:
    storage = MemoryStorage()
    options, kind = {"hoodie.write.table.version": version}, "COPY_ON_WRITE" if version == "8" else "MERGE_ON_READ"
    table = make_table(storage, partition_by=["city"], order_by=["at"], table_type=kind, options=options)
    table.upsert([ride(number, "oslo") for number in range(6)], OPTIONS)
    if version != "6":
        table.services.index("by_value", "value")
        table.services.index("low", "city", using="column_stats", options={"expr": "lower"})
    for number in range(6, 10):
        table.insert([ride(number, "rome", number)], {"hoodie.parquet.small.file.limit": "0"})
    return storage


def newest_stated(storage: MemoryStorage, partition: str) -> str:
    """The last file that a commit of the metadata table wrote to a partition."""
    mdt = FolderStorage(storage, FOLDER)
    config = TableConfig(load_properties(mdt))
    files = stated_files(mdt, config, load_full_timeline(mdt, config))[partition]
    return f"{FOLDER}/{partition}/{max((one for some in files.values() for one in some), key=lambda one: one.commit).name}"


def damaged(version: str, partition: str, how: str) -> MemoryStorage:
    storage = written(version).copy()
    path = newest_stated(storage, partition)
    data = storage.read(path)
    storage.delete(path)
    if (change := WAYS[how]) is not None:
        storage.create(path, change(data))
    return storage


@pytest.mark.parametrize(("version", "partition", "how"), CASES)
def test_readers_do_without_it_and_say_so(version, partition, how, caplog) -> None:
    good, table = HudiTable(written(version)), HudiTable(damaged(version, partition, how))
    assert rows_of(table) == rows_of(good)
    for condition in ("id = 9", "value = 8", "lower(city) = 'rome' and value > 6", "city = 'oslo' and value = 0"):
        assert by_id(table.to_arrow(filter=condition).to_pylist()) == by_id(good.to_arrow(filter=condition).to_pylist())
    if partition == "files":
        assert "is not used, its folders are listed instead" in caplog.text
        assert "commit" in caplog.text
        assert "wrote it with" in caplog.text
    assert any(partition in problem["subject"] + problem["problem"] for problem in table.inspect.health().to_pylist())


@pytest.mark.parametrize(("version", "partition", "how"), [case for case in CASES if case[2] in ("gone", "longer")])
def test_the_next_write_builds_the_metadata_table_again_and_loses_nothing(version, partition, how) -> None:
    good, table = rows_of(HudiTable(written(version))), HudiTable(damaged(version, partition, how))
    table.upsert([ride(3, "oslo", 33, at=1)])
    assert rows_of(table) == [row | ({"value": 33, "at": 1} if row["id"] == 3 else {}) for row in good]
    assert table.inspect.health().to_pylist() == []


def test_a_log_file_of_version_6_may_be_longer_than_any_commit_states(caplog) -> None:
    """Others appended to it, or died while they did."""
    storage = written("6").copy()
    path = newest_stated(storage, "files")
    storage.replace(path, storage.read(path) + b"#HU")
    assert rows_of(HudiTable(storage)) == rows_of(HudiTable(written("6")))
    assert "is not used" not in caplog.text


def test_a_partition_that_was_dropped_and_built_again_is_whole_once_its_build_is_archived(caplog) -> None:
    """Its build has a time before all commits, and is archived before those that wrote to the files that were dropped."""
    table = make_table(MemoryStorage())
    without = {"hoodie.metadata.index.column.stats.enable": "false"}
    archive = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    for number in range(16):
        table.upsert([ride(1, "oslo", number)], without if number % 4 == 0 else {"hoodie.archive.automatic": "false"})
        table.services.archive(options=archive)
    assert "rebuilt" not in caplog.text
    assert table.inspect.health().to_pylist() == []
