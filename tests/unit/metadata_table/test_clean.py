"""Known bug of Apache Hudi's cleaner where pyhudi cleans: what a pending compaction needs stays.

Scenario: docs/format/known-defects.md#cleaning-and-archival.
"""

from __future__ import annotations

import pytest

import pyhudi.fsview.file_groups as build
from pyhudi.codec.actions.plan_codec import encode_compaction_plan
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, open_writer_table
from pyhudi.metadata_table.services.metadata_clean import AFTER_COMPACTION, clean_if_due
from pyhudi.spec.actions.clean import CleanPlan
from pyhudi.spec.actions.compaction import CompactionPlan, operation_of
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.timeline.instant_details import read_action
from tests.unit.metadata_table.replays import contents, sources
from tests.unit.table.tables import make_table, ride

LIMIT = "hoodie.metadata.compact.max.delta.commits"


def open_metadata(storage: MemoryStorage) -> MetadataWriterTable:
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    return mdt


def table_under_compaction() -> MemoryStorage:
    """A table whose metadata table was compacted once, has a second compaction planned, and a log file written on top of the plan."""
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], options={"hoodie.write.table.version": "6"})
    table.upsert([ride(0)], {LIMIT: "3"})
    written = [table.upsert([ride(number)], {LIMIT: "30"}).instant for number in range(AFTER_COMPACTION)]
    mdt = open_metadata(storage)
    assert sum(instant.action is Action.COMMIT for instant in mdt.timeline.completed()) == 1
    (slice_,) = mdt.slices("files")
    plan = CompactionPlan((operation_of(slice_, 0),), extra_metadata={}, preserve_meta_columns=False, missing_partitions=())
    planned = str(int(str(written[-1])) - 1)
    mdt.writer.request(Action.COMPACTION, planned, encode_compaction_plan(plan, sync=b"0" * 16))
    newest = slice_.logs[-1].path
    with mdt.storage.open_input(newest) as source:  # as writers of version 6 name it that know the plan
        mdt.storage.create(newest.replace(slice_.base_instant, planned), source.read())
    return storage


def clean_all_but_the_newest(storage: MemoryStorage) -> None:
    clean_if_due(open_metadata(storage), settings=MetadataSettings(retained_commits=1))
    cleans = [instant for instant in open_metadata(storage).timeline.completed() if instant.action is Action.CLEAN]
    assert len(cleans) == 1, "there was something to clean"


def test_what_a_pending_compaction_needs_stays() -> None:
    storage = table_under_compaction()
    before = contents(storage)
    clean_all_but_the_newest(storage)
    assert contents(storage) == before


def test_defect_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file on top of the plan begins a slice: the one that is to be compacted then counts as an older version."""
    storage = table_under_compaction()
    monkeypatch.setattr(build, "_start_by_name", lambda at, starts, timeline: at)
    clean_all_but_the_newest(storage)
    monkeypatch.undo()
    with pytest.raises(CorruptTableError, match="is missing"):
        contents(storage)


@pytest.mark.parametrize("version", [pytest.param("6", marks=pytest.mark.slow), "9"])
def test_it_is_cleaned_however_few_commits_archival_leaves_active(version: str) -> None:
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], options={"hoodie.write.table.version": version})
    few = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
    for number in range(60):
        table.upsert([ride(number % 3)], few)
    bases = [file.path for file in open_metadata(storage).storage.list("files") if file.path.endswith(".hfile")]
    assert len(bases) <= 3, "old files of the metadata table stay"


@pytest.mark.parametrize(
    ("options", "commits", "policy", "versions"),
    [
        ({"hoodie.metadata.derive.from.datatable.clean.policy": "false"}, 16, "KEEP_LATEST_FILE_VERSIONS", 3),
        pytest.param({}, 44, "KEEP_LATEST_COMMITS", 6, marks=pytest.mark.slow),
        pytest.param({"hoodie.clean.commits.retained": "40"}, 44, "KEEP_LATEST_COMMITS", 11, marks=pytest.mark.slow),
    ],
)
def test_options_say_what_stays(options: dict[str, str], commits: int, policy: str, versions: int) -> None:
    """Each fourth commit is compacted: 20 commits retain five base files, and two versions are those and the one written since."""
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"])
    for number in range(commits):
        table.upsert([ride(number % 3)], {LIMIT: "4", "hoodie.archive.automatic": "false", **options})
    mdt = open_metadata(storage)
    assert len([file for file in mdt.storage.list("files") if file.path.endswith(".hfile")]) == versions
    plans = [
        read_action(mdt.storage, mdt.config, Instant(one.requested, Action.CLEAN, State.REQUESTED))
        for one in mdt.timeline.completed()
        if one.action is Action.CLEAN
    ]
    assert {plan.policy for plan in plans if isinstance(plan, CleanPlan)} == {policy}
    table.upsert([ride(0)])
    assert table.inspect.health().to_pylist() == []
