"""Log compactions of the metadata table: what log files said stays said, deletes and order included."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.metadata_table.read.slice_reader import SliceReader
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, open_writer_table
from pyhudi.metadata_table.services.metadata_compaction import compact_if_due
from pyhudi.metadata_table.services.metadata_log_compaction import log_compact_if_due
from pyhudi.metadata_table.services.metadata_rollback import roll_back
from pyhudi.spec.actions.compaction import LOG_COMPACTION_STRATEGY, CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.marker import marker_folder
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import following
from pyhudi.timeline.instant_details import instant_path, read_action
from tests.tables import unpack
from tests.unit.metadata_table.replays import contents, live_contents, metadata_table, sources, timeline_of
from tests.unit.service.test_indexes import placed
from tests.unit.table.tables import make_table, ride, rows_of

INDEXES = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
SEVERAL = {"hoodie.metadata.compact.max.delta.commits": "30", "hoodie.compact.inline": "false"}
JOINED = {**SEVERAL, "hoodie.metadata.log.compaction.enable": "true", "hoodie.metadata.log.compaction.blocks.threshold": "3"}


def written(version: str, table_type: str = "COPY_ON_WRITE") -> HudiTable:
    """A table with every index that its version has; its metadata table has base files that its log files delete from."""
    options = {"hoodie.write.table.version": version}
    table = make_table(MemoryStorage(), partition_by=["city"], order_by=["at"], table_type=table_type, options=options)
    table.upsert([ride(number, "oslo" if number % 2 else "lima", number) for number in range(6)], INDEXES)
    if version != "6":
        table.services.index("by_value", "value")
        table.services.index("by_at", "at", using="column_stats", options={"expr": "from_unixtime"})
    compact_if_due(own_of(table), 1)
    change(table, SEVERAL)
    return table


def change(table: HudiTable, options: dict[str, str]) -> None:
    """Values change and change back, keys go and come."""
    table.upsert([ride(1, "oslo", 50, 1), ride(6, "bern", 6, 1)], options)
    table.delete([{"id": 2, "city": "lima"}], options=options)
    table.upsert([ride(1, "oslo", 1, 2), ride(2, "lima", 70, 2)], options)
    table.delete([{"id": 4, "city": "lima"}, {"id": 6, "city": "bern"}], options=options)


def own_of(table: HudiTable) -> MetadataWriterTable:
    mdt = open_writer_table(table.storage, sources())
    assert mdt is not None
    return mdt


def joined_parts(mdt: MetadataWriterTable) -> dict[FileGroupId, set[str]]:
    """The instants whose blocks a log compaction stands for, by file group: readers pass over them."""
    result = {}
    for slice_ in (slice_ for partition, _ in walk_partitions(mdt.storage) for slice_ in mdt.slices(partition)):
        blocks = SliceReader(mdt.storage, slice_, mdt.timeline).blocks()
        if parts := {instant for block in blocks for instant in block.header.replaces}:
            assert parts.isdisjoint(block.header.instant for block in blocks)
            result[slice_.group] = parts
    return result


def log_compacted(table: HudiTable) -> MetadataWriterTable:
    return log_compact_if_due(own_of(table), timeline_of(table.storage), 2)


@pytest.mark.parametrize(("version", "table_type"), [("9", "COPY_ON_WRITE"), ("8", "MERGE_ON_READ"), ("6", "COPY_ON_WRITE")])
def test_joined_file_says_what_its_parts_said(version, table_type) -> None:
    table = written(version, table_type)
    before = contents(table.storage)
    mdt = log_compacted(table)
    assert contents(table.storage) == before
    parts = joined_parts(mdt)
    of_files = {"column_stats"} if table_type == "COPY_ON_WRITE" else set()  # those of log files are few
    assert {group.partition_path for group in parts} >= {"files", "record_index"} | of_files
    change(table, SEVERAL)
    assert contents(table.storage) != before
    after = live_contents(table.storage)
    compact_if_due(own_of(table), 1)
    assert contents(table.storage) == after, "the same but for tombstones, below which nothing lies any more"
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize("version", ["9", "8", "6"])
def test_writes_join_as_often_as_options_say(version) -> None:
    table = make_table(MemoryStorage(), options={"hoodie.write.table.version": version})
    for number in range(7):
        table.upsert([ride(number)], JOINED)
    timeline = own_of(table).timeline
    assert timeline.pending() == ()
    joined = [instant for instant in timeline.completed() if instant.requested in timeline.log_compactions]
    assert [instant.action for instant in joined] == [Action.DELTA_COMMIT] * len(joined)
    # The builds of two partitions are delta commits as well, in which no slice has files to join yet.
    assert len(joined) == 2
    assert metadata_table(table.storage).is_ahead is False
    table.upsert([ride(9)], SEVERAL)
    assert own_of(table).timeline.log_compactions == timeline.log_compactions
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize("version", ["8", "6"])
def test_instant_and_plan_are_those_of_apache_hudi(version) -> None:
    table = written(version)
    newest = max(log.name.instant for slice_ in own_of(table).slices("files") for log in slice_.logs)
    last = max(one.requested for one in own_of(table).timeline.completed() if one.action is Action.DELTA_COMMIT)
    mdt = log_compacted(table)
    (requested,) = mdt.timeline.log_compactions
    assert requested == (f"{last}005" if version == "6" else following(newest))
    plan = read_action(mdt.storage, mdt.config, Instant(requested, Action.LOG_COMPACTION, State.REQUESTED))
    assert isinstance(plan, CompactionPlan)
    assert plan.strategy == LOG_COMPACTION_STRATEGY
    assert plan.operations is not None
    assert {operation.partition_path for operation in plan.operations} >= {"files", "record_index", "column_stats"}
    done = read_action(mdt.storage, mdt.config, mdt.timeline.find(requested)[0])
    assert (done.operation, done.compacted) == ("LOG_COMPACT", True)  # type: ignore[attr-defined]


def test_nothing_is_joined_twice_or_too_early() -> None:
    table = written("9")
    mdt = log_compacted(table)
    assert log_compacted(table).timeline == mdt.timeline
    table.upsert([ride(20)], SEVERAL)
    assert log_compacted(table).timeline.log_compactions == mdt.timeline.log_compactions
    table.upsert([ride(21)], SEVERAL)
    assert len(log_compacted(table).timeline.log_compactions) == 2


def test_partitions_that_are_being_built_are_left_alone() -> None:
    table = written("9")
    mdt = log_compact_if_due(own_of(table), timeline_of(table.storage), 2, ("record_index", "files"))
    joined = {group.partition_path for group in joined_parts(mdt)}
    assert joined == {"column_stats", "partition_stats", "bloom_filters", "secondary_index_by_value", "expr_index_by_at"}


@pytest.mark.parametrize("version", ["9", "6"])
def test_action_that_was_pending_applies_after_what_came_before_it_and_before_what_came_after(version) -> None:
    """A compaction of the table has an older time than delta commits that are joined while it is planned."""
    table = written(version, "MERGE_ON_READ")
    change(table, SEVERAL)
    (planned,) = table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    change(table, SEVERAL)
    mdt = log_compacted(table)
    if version == "6":
        assert not mdt.timeline.log_compactions
        return
    parts = set().union(*joined_parts(mdt).values())
    assert len(parts) > 3
    assert max(mdt.timeline.log_compactions) < str(planned.instant)
    assert max(parts) < str(planned.instant)
    table.services.compact(mode="execute")
    after = contents(table.storage)
    assert table.inspect.health().to_pylist() == []
    log_compacted(table)
    assert contents(table.storage) == after
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize("version", ["9", "6"])
def test_commit_whose_records_were_joined_is_not_rolled_back_there_but_all_is_built_again(version) -> None:
    """Nobody joins what the table has not completed; whoever did would have the rolled back rows stay."""
    table = written(version)
    rows = rows_of(table)
    table.upsert([ride(30, "rome")], SEVERAL)
    last = timeline_of(table.storage).data_instants()[-1]
    mdt = log_compacted(table)
    with pytest.raises(CorruptTableError, match=f"{last.requested} cannot be rolled back"):
        roll_back(mdt, last.requested, "20991231000000000")
    table.storage.delete(instant_path(TableConfig(load_properties(table.storage)), last))
    # A write that is cut off before its last step leaves its markers.
    for file in table.storage.list("rome"):
        if last.requested in file.name:
            table.storage.create(f"{marker_folder(last.requested)}/{file.path}.marker.CREATE", b"")
    assert rows_of(table) == rows
    table.upsert([ride(31, "rome")], SEVERAL)
    assert rows_of(table) == sorted([*rows, ride(31, "rome")], key=lambda row: int(row["id"]))
    assert table.inspect.health().to_pylist() == []


def test_table_that_apache_hudi_log_compacted_is_read_and_continued(tmp_path) -> None:
    table = HudiTable.open(unpack("metadata_tables/hudi_1_2_0_log_compacted_v8", tmp_path))
    storage = LocalStorage(str(table.storage.uri))
    assert len(own_of(table).timeline.log_compactions) == 3
    assert joined_parts(own_of(table))
    for _ in range(2):
        assert table.inspect.health().to_pylist() == []
        metadata = metadata_table(storage)
        assert not metadata.is_ahead
        result = metadata.record_locations([key for key, _ in metadata.partition("record_index").scan()])
        assert {(key, index.partition_path, index.file_id) for key, indices in result.items() for index in indices} == placed(table)
        table.delete(where="amount = 8", options=JOINED)
        table.upsert([{"id": "trip-3", "city": "oslo", "amount": 99, "price": 1.0}], JOINED)


def test_writers_side_by_side_join_in_turn(tmp_path) -> None:
    table = make_table(LocalStorage(str(tmp_path / "t")), partition_by=["city"])
    with ThreadPoolExecutor(3) as pool:
        list(
            pool.map(
                lambda number: HudiTable.open(table.storage.uri).upsert([ride(number), ride(100, "rome", number)], INDEXES | JOINED),
                range(8),
            )
        )
    assert len(own_of(table).timeline.log_compactions) > 1
    assert len(rows_of(table)) == 9
    assert table.inspect.health().to_pylist() == []
