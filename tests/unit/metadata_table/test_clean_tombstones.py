"""A clean deletes the statistics of every column of the base files that it removes, and those of no other."""

from __future__ import annotations

import pytest

from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.table.hudi_table import HudiTable
from tests.unit.metadata_table.replays import metadata_table
from tests.unit.table.tables import make_table, ride

COLUMNS = ["_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key", "id", "city", "value", "at"]
KEEPS_ALL = {"hoodie.clean.automatic": "false"}


@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_statistics_of_deleted_files_are_taken_back(version: str) -> None:
    table = make_table(partition_by=["city"], options={"hoodie.write.table.version": version})
    for number in range(4):
        table.upsert([ride(1, "oslo", number), ride(2, "rome ø", number)], options={**KEEPS_ALL, "hoodie.metadata.enable": "true"})

    def recorded() -> set[tuple[str, str]]:
        return {(stats.file_name, stats.column) for stats in metadata_table(table.storage).column_stats(COLUMNS)}

    before = recorded()
    (done,) = HudiTable(table.storage).services.clean(options={"hoodie.clean.commits.retained": "1"})
    present = {status.name for city in ("oslo", "rome ø") for status in table.storage.list(f"{city}")}
    assert done.total_files == 4
    assert recorded() == {(name, column) for name, column in before if name in present}
    assert len({name for name, _ in recorded()}) == 4


def test_key_of_statistics_is_its_prefix_and_its_suffix() -> None:
    key = keys.column_stats_key("id", "oslo", "a.parquet")
    assert key == keys.column_stats_prefix("id", "oslo") + keys.column_stats_suffix("a.parquet")
