"""Plans of cleans over many partitions: what they ask, and that their shorter ways come to the same."""

from __future__ import annotations

import random
from collections.abc import Collection

import pyarrow as pa
import pytest

from pyhudi.fsview.file_groups import PartitionFiles
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.service.cleaning.obsolete_files import obsolete_files, retention
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.tables import SCHEMA
from tests.unit.service.cleaning.clean_tables import OFF, TIMELINE, clean, files, new_table, upsert


def test_an_incremental_plan_asks_the_metadata_table_once_for_all_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_table(MemoryStorage())
    cities = [f"city{number}" for number in range(5)]
    for value in range(5):
        rows = [{"id": number, "city": city, "value": value} for number, city in enumerate(cities)]
        table.upsert(pa.Table.from_pylist(rows, schema=SCHEMA), options=OFF)
        if value == 2:
            assert clean(table, commits__retained="1") == [5]
    questions: list[int] = []
    sizes_of = MetadataTable.sizes_of

    def count(self: MetadataTable, partition_paths: Collection[str]) -> dict[str, dict[str, int]]:
        questions.append(len(partition_paths))
        return sizes_of(self, partition_paths)

    monkeypatch.setattr(MetadataTable, "sizes_of", count)
    (planned,) = table.services.clean(options={"hoodie.clean.commits.retained": "1"}, dry_run=True)
    assert planned.total_files == 10
    assert questions == [5]


@pytest.mark.parametrize("filtered", ["selected", "regex"])
def test_a_clean_after_a_filtered_one_covers_the_partitions_that_the_filter_excluded(filtered: str) -> None:
    table = new_table(MemoryStorage())
    for value in range(3):
        for city in ("oslo", "rome"):
            upsert(table, value, ids=(1,) if city == "oslo" else (2,), city=city)
    assert clean(table, commits__retained="1", incremental__enabled="false", **{f"partition__filter__{filtered}": "rome"}) == [1]
    upsert(table, 3, ids=(3,), city="lima")  # a commit, without which no clean is due
    assert clean(table, commits__retained="1") == [3]
    assert [len(files(table.storage, city)) for city in ("oslo", "rome")] == [1, 1]


def test_groups_of_base_files_give_way_as_slices_do() -> None:
    chance = random.Random(20261128)
    for _ in range(60):
        instants = [f"2026010203040{number}000" for number in range(8)]
        storage = MemoryStorage()
        config = TableConfig(load_properties(new_table(storage).storage))
        for instant in instants:
            completed = f"2026010203041{chance.randrange(9)}000"
            for state in ("commit.requested", "inflight"):
                storage.create(f"{TIMELINE}/{instant}.{state}", b"")
            storage.create(f"{TIMELINE}/{instant}_{completed}.commit", b"{}")
        timeline = load_timeline(storage, config)
        files, logged = PartitionFiles(), PartitionFiles()
        for group in "abc":
            file_id = f"{group * 8}-0000-0000-0000-000000000000-0"
            for instant in chance.sample(instants, chance.randrange(1, 6)):
                for one in (files, logged):
                    one.base[file_id].append((f"{file_id}_0-0-0_{instant}.parquet", instant, 10, 0))
            logged.changes[file_id] = []  # nothing, but it is looked at slice by slice
        names = sorted(name for bases in files.base.values() for name, *_ in bases)
        protected = set(chance.sample(names, 1))
        rule = retention(timeline, chance.choice(instants), 1, {})
        plain, by_slice = (obsolete_files("p", one, {}, protected, rule) for one in (files, logged))
        assert plain == by_slice
        assert not protected & plain.keys()
