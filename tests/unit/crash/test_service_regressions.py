"""Known bugs of Apache Hudi's cleaner and archiver on the table itself: each scenario holds, and fails on a build with that defect.

Scenarios: docs/format/known-defects.md#cleaning-and-archival. Those of compaction, rollback and the metadata table are in the files next
to this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError
from pyhudi.fsview import file_groups
from pyhudi.service.archival import archivable_instants
from pyhudi.storage.memory_storage import MemoryStorage
from tests.not_none import not_none
from tests.unit.crash.tables import CountedIds, StoppedClock
from tests.unit.service.cleaning.clean_tables import new_table, upsert

RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
FEW = RETAIN_ONE | {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
TIMELINE = ".hoodie/timeline"
NO_METADATA = {"hoodie__metadata__enable": "false", "hoodie__archive__automatic": "false"}


def values(table: HudiTable) -> dict[int, int]:
    return {row["id"]: row["value"] for row in table.to_arrow().to_pylist()}


def log_older_than_its_base() -> None:
    """R05: a log whose writer began before the base file and ended after it is in no clean, but in the plan of the compaction."""
    table = new_table(MemoryStorage(), table_type="MERGE_ON_READ")
    for value in range(3):
        upsert(table, value, ids=(1, 2), hoodie__compact__inline="false", **NO_METADATA)
    (compacted,) = table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    late = upsert(table, 9, ids=(1,), hoodie__compact__inline="false", hoodie__logfile__data__block__format="avro", **NO_METADATA)
    base = not_none(compacted.instant)
    assert base < late
    begin_earlier(table.storage, late, str(int(base) - 100))
    table = HudiTable(table.storage, clock=StoppedClock(), ids=CountedIds())
    assert values(table) == {1: 9, 2: 2}
    (planned,) = table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    upsert(table, 5, ids=(3,), city="rome", hoodie__compact__inline="false", **NO_METADATA)
    table.services.clean(options=RETAIN_ONE | {"hoodie.clean.incremental.enabled": "false"})
    assert values(table) == {1: 9, 2: 2, 3: 5}
    table.services.compact(planned.instant, mode="execute")
    assert values(table) == {1: 9, 2: 2, 3: 5}


def begin_earlier(storage: Any, instant: str, earlier: str) -> None:
    """Rename a write so that it began earlier; it completed when it did."""
    for folder in (TIMELINE, "oslo"):
        for file in storage.list(folder):
            if (instant in file.name and not file.name.startswith(f"{instant}_")) or file.name.startswith(f"{instant}_"):
                content = storage.read(file.path).replace(instant.encode(), earlier.encode())
                storage.delete(file.path)
                storage.create(f"{folder}/{file.name.replace(instant, earlier, 1)}", content)


def clean_at_the_time_of_a_commit() -> None:
    """R15: the clock is stopped; commit and clean have times of their own, and the metadata table records both."""
    table = new_table(MemoryStorage())
    for value in range(4):
        upsert(table, value)
    table.services.clean(options=RETAIN_ONE)
    times = table.history()["requested"].to_pylist()
    assert len(set(times)) == len(times)
    assert table.inspect.health().to_pylist() == []
    assert table.inspect.verify().num_rows == 0


def replaced_groups_of_an_archived_replacement() -> None:
    """R16: with cleaning off, archival leaves the clustering active whose replaced files are still there: readers would show them."""
    table = two_files()
    replaced, clustering = cluster(table)
    for value in range(8):
        upsert(table, value, city="rome", ids=(9,), **NO_METADATA)
        table.services.archive(options=FEW | {"hoodie.clean.automatic": "false"})
        check_replaced(table, replaced, clustering, {1: 1, 2: 2, 9: value})


def replaced_groups_of_a_deleted_savepoint() -> None:
    """R17: a clean passes over what a savepoint holds; when it is deleted, archival waits until a clean has been there again."""
    table = two_files()
    saved = table.services.savepoint().instant
    replaced, clustering = cluster(table)
    for value in range(10):
        upsert(table, value, city="rome", ids=(9,), **NO_METADATA)
        if value in (3, 7):
            table.services.clean(options=RETAIN_ONE)
        if value == 4:
            table.services.delete_savepoint(saved)
        table.services.archive(options=FEW)
        check_replaced(table, replaced, clustering, {1: 1, 2: 2, 9: value})
    assert not [path for path in replaced if table.storage.stat(path) is not None]


def two_files() -> HudiTable:
    table = new_table(MemoryStorage())
    for number in (1, 2):
        upsert(table, number, ids=(number,), hoodie__parquet__small__file__limit="0", **NO_METADATA)
    return table


def cluster(table: HudiTable) -> tuple[list[str], str]:
    """Join the two files; return their paths, and the instant."""
    replaced = [one.path for one in table.storage.list("oslo") if one.name.endswith(".parquet")]
    (done,) = table.services.cluster(options={"hoodie.clustering.plan.strategy.small.file.limit": "1000000"})
    return replaced, not_none(done.instant)


def check_replaced(table: HudiTable, replaced: list[str], clustering: str, expected: dict[int, int]) -> None:
    """While a replaced file is there, what replaced it is on the active timeline, where readers of any engine look."""
    assert values(table) == expected
    if any(table.storage.stat(path) is not None for path in replaced):
        assert any(one.name.startswith(f"{clustering}_") for one in table.storage.list(TIMELINE))


def logs_are_sliced_by_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log goes down with the slice that was the newest when its writer began."""
    monkeypatch.setattr(
        file_groups, "_slice_start", lambda at, starts, timeline: max((start for start in starts if start <= at), default=None)
    )


def replacements_do_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archivable_instants, "_for_replaced_files", lambda _: None)


Scenario = Callable[[], None]
SCENARIOS: list[Scenario] = [
    log_older_than_its_base,
    clean_at_the_time_of_a_commit,
    replaced_groups_of_an_archived_replacement,
    replaced_groups_of_a_deleted_savepoint,
]


DEFECTS = [
    (log_older_than_its_base, logs_are_sliced_by_their_times),
    (replaced_groups_of_an_archived_replacement, replacements_do_not_stay),
    (replaced_groups_of_a_deleted_savepoint, replacements_do_not_stay),
]


@pytest.fixture(autouse=True)
def without_checksums_of_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file is rewritten here, with another time in it."""
    monkeypatch.setattr("pyhudi.txn.commit_sequence.log_checksum_note", lambda _: {})


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.__name__ for scenario in SCENARIOS])
def test_rows_are_right(scenario: Scenario) -> None:
    scenario()


@pytest.mark.parametrize(("scenario", "defect"), DEFECTS, ids=[scenario.__name__ for scenario, _ in DEFECTS])
def test_defect_is_noticed(scenario: Scenario, defect: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    with pytest.raises((AssertionError, HudiError)):
        scenario()
