"""The view of a table on storage: partitions, laziness, replaced groups, repeated attempts."""

from __future__ import annotations

import pytest

from pyhudi.codec.actions.commit_metadata import encode_commit
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.write_instant import TimelineWriter
from tests.not_none import not_none
from tests.unit.timeline.tables import LAYOUT_2

CONFIG = TableConfig({**LAYOUT_2, "hoodie.table.partition.fields": "city"})
SYNC = bytes(16)


def at(day: int) -> str:
    return f"202612{day:02}000000000"


def base(file_id: str, day: int, token: str = "0-0-0") -> str:
    return f"{file_id}_{token}_{at(day)}.parquet"


class Table:
    """A partitioned table in memory, written by hand."""

    def __init__(self) -> None:
        self.storage = RecordingStorage(MemoryStorage())

    def partition(self, path: str) -> None:
        self.storage.create(f"{path}/.hoodie_partition_metadata", b"")

    def commit(self, day: int, *paths: str, action=Action.COMMIT, replaced=None) -> None:
        writer = TimelineWriter(self.storage, CONFIG)
        for path in paths:
            self.storage.create(path, b"rows")
        self.complete(writer, day, paths, action, replaced)

    def complete(self, writer, day, paths, action, replaced) -> None:
        stats = {"x": tuple(WriteStat(file_id="a", path=path) for path in paths)}
        content = encode_commit(CommitMetadata(stats=stats, replaced=replaced), sync=SYNC)
        writer.complete(writer.start(writer.request(action, at(day))), at(day)[:-1] + "1", content)

    def view(self, as_of: int | None = None) -> FileSystemView:
        timeline = load_timeline(self.storage, CONFIG)
        self.storage.calls.clear()
        return FileSystemView(self.storage, CONFIG, timeline if as_of is None else timeline.as_of(at(as_of)))

    def listed(self) -> list[str]:
        return [call.path for call in self.storage.calls if call.method == "list"]


@pytest.fixture
def table() -> Table:
    table = Table()
    for city in ("oslo", "rome"):
        table.partition(city)
        table.commit(1 if city == "oslo" else 2, f"{city}/{base('a', 1 if city == 'oslo' else 2)}")
    return table


def names(view, partition_path) -> list[str]:
    return [str(file.name) for file in view.latest_base_files(partition_path)]


def test_partitions_are_the_folders_with_a_metafile(table) -> None:
    table.storage.create("stray/file.txt", b"")
    table.storage.create("_delta_log/0.json", b"")
    table.partition("spain/madrid")
    assert table.view().partition_paths() == ("oslo", "rome", "spain/madrid")


def test_partition_below_a_partition_is_found(table) -> None:
    table.partition("oslo/center")
    assert table.view().partition_paths() == ("oslo", "oslo/center", "rome")


def test_partition_with_a_metafile_in_another_format_is_found(table) -> None:
    table.storage.create("bern/.hoodie_partition_metadata.parquet", b"")
    assert "bern" in table.view().partition_paths()


def test_asking_for_one_partition_lists_that_partition_only(table) -> None:
    view = table.view()
    assert names(view, "oslo") == [base("a", 1)]
    assert names(view, "oslo") == [base("a", 1)]
    assert table.listed() == ["oslo"]


def test_each_folder_is_listed_once_for_the_whole_table(table) -> None:
    view = table.view()
    result = [name for path in view.partition_paths() for name in names(view, path)]
    assert result == [base("a", 1), base("a", 2)]
    assert sorted(table.listed()) == ["", "oslo", "rome"]


def test_missing_partition_has_no_groups(table) -> None:
    assert table.view().groups("nowhere") == ()


def test_replaced_group_is_missing_but_seen_in_time_travel(table) -> None:
    table.commit(5, f"oslo/{base('b', 5)}", action=Action.REPLACE_COMMIT, replaced={"oslo": ("a",)})
    assert names(table.view(), "oslo") == [base("b", 5)]
    assert names(table.view(as_of=4), "oslo") == [base("a", 1)]


def test_pending_replacecommit_replaces_nothing(table) -> None:
    writer = TimelineWriter(table.storage, CONFIG)
    writer.start(writer.request(Action.REPLACE_COMMIT, at(5)))
    assert names(table.view(), "oslo") == [base("a", 1)]


def test_second_attempt_of_a_task_is_ignored_when_the_commit_names_the_first(table) -> None:
    table.commit(5, f"oslo/{base('a', 5, '1-0-1')}")
    for token in ("0-0-0", "2-0-2"):
        table.storage.create(f"oslo/{base('a', 5, token)}", b"torn")
    assert names(table.view(), "oslo") == [base("a", 5, "1-0-1")]


def test_attempts_of_an_archived_commit_cannot_be_told_apart(table) -> None:
    table.storage.create(".hoodie/timeline/history/manifest_1", b"")
    for token in ("0-0-0", "2-0-2"):
        table.storage.create(f"oslo/a_{token}_{'0' * 17}.parquet", b"")
    with pytest.raises(CorruptTableError, match="several files"):
        table.view().groups("oslo")


def test_table_without_partitions_lists_its_base() -> None:
    table = Table()
    table.storage.create(base("a", 1), b"rows")
    writer = TimelineWriter(table.storage, CONFIG)
    table.complete(writer, 1, [base("a", 1)], Action.COMMIT, None)
    config = TableConfig(LAYOUT_2)
    view = FileSystemView(table.storage, config, load_timeline(table.storage, config))
    assert view.partition_paths() == ("",)
    assert names(view, "") == [base("a", 1)]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_groups_under_pending_compaction_are_known_and_read_with_all_their_logs(version, fixture_table) -> None:
    storage = LocalStorage(str(fixture_table(f"apache_hudi/merge_on_read_pending_compaction_v{version}")))
    config = TableConfig(load_properties(storage))
    view = FileSystemView(storage, config, load_timeline(storage, config))
    [compaction] = view.timeline.pending()
    slices = {file_slice.group: file_slice for path in view.partition_paths() for file_slice in view.latest_slices(path)}
    assert view.pending_compaction.keys() == slices.keys()
    for group, planned in view.pending_compaction.items():
        assert planned.instant == compaction.requested
        assert str(not_none(slices[group].base).name) == planned.operation.data_file
        assert len(slices[group].logs) > len(not_none(planned.operation.delta_files))


def test_time_travel_knows_no_pending_compaction(fixture_table) -> None:
    storage = LocalStorage(str(fixture_table("apache_hudi/merge_on_read_pending_compaction_v9")))
    config = TableConfig(load_properties(storage))
    timeline = load_timeline(storage, config)
    assert FileSystemView(storage, config, timeline.as_of(timeline.greatest_time())).pending_compaction == {}


def test_pending_compaction_without_a_plan_is_an_error(table) -> None:
    TimelineWriter(table.storage, CONFIG).request(Action.COMPACTION, at(5))
    with pytest.raises(CorruptTableError, match=at(5)):
        assert table.view().pending_compaction


def test_logs_whose_base_file_is_lost_are_an_error_that_names_it(table) -> None:
    table.storage.create(f"oslo/.a_{at(3)}.log.1_0-0-0", b"")
    stat = WriteStat(file_id="a", partition_path="oslo", path=f"oslo/.a_{at(3)}.log.1_0-0-0", base_file=base("a", 1))
    writer = TimelineWriter(table.storage, CONFIG)
    content = encode_commit(CommitMetadata(stats={"oslo": (stat,)}), sync=SYNC)
    writer.complete(writer.start(writer.request(Action.DELTA_COMMIT, at(3))), at(3)[:-1] + "1", content)
    assert [file_slice.base_instant for file_slice in table.view().latest_slices("oslo")] == [at(1)]
    table.storage.delete(f"oslo/{base('a', 1)}")
    with pytest.raises(CorruptTableError, match=base("a", 1)):
        table.view().latest_slices("oslo")
