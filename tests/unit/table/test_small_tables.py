"""A table under small commits keeps its size: files, bytes under `.hoodie` and records of the metadata table, but for the archive."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from tests.unit.crash.tables import SCHEMA, CountedIds, Driver, StoppedClock
from tests.unit.metadata_table.replays import contents

#: The defaults, smaller but for archival: the metadata table keeps the slices of 20 commits, and cleans only when more are active.
SMALL = {
    "hoodie.clean.commits.retained": "2",
    "hoodie.keep.min.commits": "20",
    "hoodie.keep.max.commits": "24",
    "hoodie.metadata.compact.max.delta.commits": "4",
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "3",
}
ARCHIVE = ".hoodie/timeline/history"


def footprint(storage: Storage, folder: str = "") -> tuple[Counter[str], Counter[str]]:
    """The numbers of files and their bytes by folder; all archives are one folder."""
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one in storage.list(folder):
        if one.is_dir:
            below, bytes_below = footprint(storage, one.path)
            files += below
            sizes += bytes_below
        else:
            name = ARCHIVE if ARCHIVE in f"{folder}/" or folder.endswith(ARCHIVE) else folder
            files[name] += 1
            sizes[name] += one.size
    return files, sizes


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_commits_leave_nothing_that_grows_but_the_archive(table_type) -> None:
    storage = MemoryStorage()
    Driver(table_type=table_type).create(storage)
    table = HudiTable(storage, clock=StoppedClock(), ids=CountedIds())
    most: list[tuple[Counter[str], int, int]] = []
    for number in range(62):
        rows = pa.table({"id": range(10), "city": ["oslo"] * 10, "value": [number] * 10}, schema=SCHEMA)
        table.upsert(rows, options=SMALL)
        if number in (34, 48):
            most.append((Counter(), 0, 0))
        if number >= 34:
            files, sizes = footprint(storage)
            for one in (files, sizes):
                one.pop(ARCHIVE, None)
            records = sum(map(len, contents(storage).values())) if number in (47, 61) else 0
            known = most[-1]
            most[-1] = (known[0] | files, max(known[1], sum(sizes.values())), max(known[2], records))
    (files_before, bytes_before, records_before), (files, size, records) = most
    assert {folder: count for folder, count in files.items() if count > files_before[folder] + 2} == {}
    assert size <= bytes_before * 1.05
    assert records <= records_before, "tombstones of files that cleans deleted are gone after a compaction"
