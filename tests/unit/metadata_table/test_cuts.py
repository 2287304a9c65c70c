"""Every storage call of building, recording, rolling back and compacting, cut: what is left is fixed by the next writer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.metadata_table.read.writer_table import open_writer_table
from pyhudi.metadata_table.services.metadata_rollback import roll_back
from pyhudi.spec.instant import Action as InstantAction
from pyhudi.spec.instant import Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, recover_properties
from pyhudi.testing.crash_points import Action, CrashRun, crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.timeline.instant_details import instant_path, read_commit
from tests.unit.crash.tables import Driver, StoppedClock, stored_table
from tests.unit.metadata_table.replays import contents, prepared, record_commit, sources, timeline_of
from tests.unit.metadata_table.test_sync import check_files

FAULTS = (Fault.AFTER, Fault.TORN)
ROLLBACK_TIME = "20991231000000000"


@pytest.fixture(scope="module", params=[9, 6], ids=["version 9", "version 6"])
def stored(request: pytest.FixtureRequest) -> MemoryStorage:
    """A table of two commits, without a metadata table."""
    storage, _ = stored_table(Driver(created_with={"hoodie.write.table.version": str(request.param)}))
    return storage


@pytest.fixture(scope="module")
def before_last(stored: MemoryStorage) -> MemoryStorage:
    """The table with a metadata table that knows the first commit; the second is still to complete."""
    storage = stored.copy()
    first, last = timeline_of(storage).data_instants()
    prepared(storage, timeline_of(storage).requested_by(first.requested), StoppedClock())
    storage.delete(completed_file(stored, last))
    return storage


@pytest.fixture(scope="module")
def recorded(stored: MemoryStorage, before_last: MemoryStorage) -> MemoryStorage:
    """The same with the second commit recorded."""
    storage = before_last.copy()
    record_last(stored, storage)
    return storage


def last_of(stored: Storage) -> Instant:
    return timeline_of(stored).data_instants()[-1]


def in_step(storage: Storage) -> MetadataSync:
    recover_properties(storage)
    mdt = open_writer_table(storage, sources(StoppedClock()))
    assert mdt is not None
    config = TableConfig(load_properties(storage))
    return MetadataSync(storage, config, FileSystemView(storage, config, timeline_of(storage)), mdt)


def record_last(stored: Storage, storage: Storage) -> None:
    last = last_of(stored)
    record_commit(in_step(storage), last.requested, read_commit(stored, TableConfig(load_properties(stored)), last))


def completed_file(stored: Storage, last: Instant) -> str:
    return instant_path(TableConfig(load_properties(stored)), last)


def complete_last(stored: Storage, storage: Storage) -> None:
    name = completed_file(stored, last_of(stored))
    storage.create(name, stored.read(name))


def check_unseen(run: CrashRun, before: dict[str, dict[str, Any]]) -> None:
    """Nothing of it is seen. A torn log file of version 6 may hold what a commit says, so that readers list until it is fixed."""
    try:
        assert contents(run.storage) == before, run.point
    except CorruptTableError:
        assert run.point.fault is Fault.TORN
        assert timeline_of(run.storage).layout == 1


def cuts(action: Action, storage: MemoryStorage) -> Iterator[CrashRun]:
    return crash_points(action, storage.copy, FAULTS)


def test_build_that_was_cut_is_done_by_the_next_writer(stored) -> None:
    whole = stored.copy()
    prepared(whole, timeline_of(whole), StoppedClock())
    build = crash_points(lambda storage: prepared(storage, timeline_of(storage), StoppedClock()), stored.copy, (Fault.AFTER,))
    for run in build:
        recover_properties(run.storage)
        prepared(run.storage, timeline_of(run.storage))
        assert contents(run.storage) == contents(whole), run.point
        check_files(run.storage)


def test_record_that_was_cut_is_not_seen_and_is_rolled_back(stored, before_last, recorded) -> None:
    done = recorded.copy()
    complete_last(stored, done)
    before, after, last = contents(before_last), contents(done), last_of(stored)
    assert before != after
    for run in cuts(lambda storage: record_last(stored, storage), before_last):
        check_unseen(run, before)
        roll_back(in_step(run.storage).mdt, last.requested, ROLLBACK_TIME)
        assert contents(run.storage) == before, run.point
        record_last(stored, run.storage)
        complete_last(stored, run.storage)
        assert contents(run.storage) == after, run.point


def test_record_of_a_write_without_rollback_is_thrown_away_by_the_next_writer(stored, before_last) -> None:
    """The data table's failed instant is removed, the metadata table's is still pending."""
    before, last = contents(before_last), last_of(stored)
    for run in cuts(lambda storage: record_last(stored, storage), before_last):
        for state in (State.INFLIGHT, State.REQUESTED):
            run.storage.delete(completed_file(stored, replace(last, state=state, completed=None)))
        pending = [one for one in in_step(run.storage).mdt.timeline.pending() if one.action is InstantAction.DELTA_COMMIT]
        if pending:
            prepared(run.storage, timeline_of(run.storage))
            assert contents(run.storage) == before, run.point
            assert in_step(run.storage).mdt.timeline.pending() == (), run.point


def test_rollback_that_was_cut_is_done_by_the_next_writer(stored, before_last, recorded) -> None:
    before, last = contents(before_last), last_of(stored)
    for run in cuts(lambda storage: roll_back(in_step(storage).mdt, last.requested, ROLLBACK_TIME), recorded):
        roll_back(in_step(run.storage).mdt, last.requested, ROLLBACK_TIME)
        assert contents(run.storage) == before, run.point
        timeline = in_step(run.storage).mdt.timeline
        assert timeline.pending() == (), run.point
        assert timeline.find(last.requested) == (), run.point


def test_compaction_that_was_cut_loses_nothing_and_is_done_again(stored, recorded) -> None:
    done = recorded.copy()
    complete_last(stored, done)
    records = contents(done)

    def compact(storage: Storage) -> None:
        step = in_step(storage)
        replace(step, settings=MetadataSettings(max_delta_commits=1)).maintain()

    for run in cuts(compact, done):
        assert contents(run.storage) == records, run.point
        compact(run.storage)
        assert contents(run.storage) == records, run.point
        assert in_step(run.storage).mdt.timeline.pending() == (), run.point


def test_log_compaction_that_was_cut_loses_nothing_and_is_done_again(stored, recorded) -> None:
    done = recorded.copy()
    complete_last(stored, done)
    records = contents(done)

    def join(storage: Storage) -> None:
        step = in_step(storage)
        replace(step, settings=MetadataSettings(max_delta_commits=30, log_compaction_blocks=1)).maintain()

    for run in cuts(join, done):
        assert contents(run.storage) == records, run.point
        join(run.storage)
        assert contents(run.storage) == records, run.point
        timeline = in_step(run.storage).mdt.timeline
        assert timeline.pending() == (), run.point
        assert len([one for one in timeline.completed() if one.requested in timeline.log_compactions]) == 1, run.point
        files = {log.name for slice_ in in_step(run.storage).mdt.slices("files") for log in slice_.logs}
        assert len(files) == 3, run.point  # that of the build, that of the commit, and the one that joins them
