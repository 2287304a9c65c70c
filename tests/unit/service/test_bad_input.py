"""Bad input of table services: typed errors by every door, nothing half-written, nothing outside the table deleted.

Plans on the timeline are untrusted: they may be damaged, forged, or made for another table.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.codec.actions.clean_codec import encode_clean_plan
from pyhudi.codec.actions.plan_codec import encode_clustering_plan, encode_compaction_plan, encode_indexing_plan
from pyhudi.codec.actions.rollback_codec import encode_restore_plan, encode_rollback_plan
from pyhudi.errors import CorruptTableError, HudiError, OptionError, UnsupportedError, UsageError
from pyhudi.spec.actions.clean import CleanPlan
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice, Strategy
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.actions.indexing import IndexedPartition, Indexing
from pyhudi.spec.actions.restore import RestorePlan
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
AT = "20990101000000000"
SYNC = bytes(16)
RUN = Strategy("org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy", {})


class Case:
    """A table, a folder next to it that is nobody's of the table, and what is in both."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self.outside = folder, folder / "t", folder / "outside"
        self.table = HudiTable.open(str(self.path))
        self.times = self.table.history()["requested"].to_pylist()
        self.outside.mkdir()
        for time in self.times:
            (self.outside / data_file(time)).write_bytes(b"precious")
        self.before = self.files()

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and ".locks" not in path.parts}

    def plan(self, action: str, content: bytes) -> None:
        self.table.storage.create(f".hoodie/timeline/{AT}.{action}.requested", content)
        self.before = self.files()

    def refused(self, kind: type[HudiError], call: Callable[[], object], *words: str) -> None:
        with pytest.raises(kind) as raised:
            call()
        assert [word for word in words if word not in str(raised.value)] == []
        assert self.files() == self.before

    def is_removed_by_rollback(self, action: str) -> None:
        """Roll back a damaged plan: it goes, and nothing else."""
        (planned,) = self.table.services.rollback(AT, dry_run=True)
        assert (planned.instant, planned.requests) == (InstantInfo(AT, action), ())
        assert self.files() == self.before
        self.table.services.rollback(AT)
        plan = next(path for path in self.before if path.endswith(f"{AT}.{action}.requested"))
        left = self.files()
        assert {path for path in self.before if self.before[path] != left.get(path)} == {plan}
        self.table.upsert([{"id": 3, "city": "oslo", "value": 1}])

    def refused_command(self, exit_code: int, *arguments: str) -> None:
        result = CliRunner().invoke(main, list(arguments))
        assert (result.exit_code, result.stderr.startswith("error: ")) == (exit_code, True), result.output
        assert self.files() == self.before


def data_file(time: str) -> str:
    return f"a-0_0-0-0_{time}.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    result = {}
    for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        folder = tmp_path_factory.mktemp(table_type)
        table = HudiTable.create(folder / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)
        for value in range(3):
            table.upsert([{"id": 1, "city": "oslo", "value": value}, {"id": 2, "city": "rome", "value": value}])
        result[table_type] = folder
    return result


@pytest.fixture
def case(made: dict[str, Path], tmp_path: Path) -> Case:
    return Case(Path(shutil.copytree(made["COPY_ON_WRITE"], tmp_path / "c")))


@pytest.fixture
def merged(made: dict[str, Path], tmp_path: Path) -> Case:
    return Case(Path(shutil.copytree(made["MERGE_ON_READ"], tmp_path / "c")))


@pytest.mark.parametrize("option", [{"hoodie.table.name": "u"}, {"hoodie.datasource.write.recordkey.field": "city"}])
def test_options_of_another_table_are_refused_by_every_service(merged: Case, option: dict[str, str]) -> None:
    services = merged.table.services
    calls: dict[str, Callable[[], object]] = {
        "clean": lambda: services.clean(options=option),
        "purge": lambda: services.purge(["oslo"], options=option),
        "compact": lambda: services.compact(options=option),
        "log_compact": lambda: services.log_compact(options=option),
        "cluster": lambda: services.cluster(options=option),
        "archive": lambda: services.archive(options=option),
        "ttl": lambda: services.ttl(options={**option, "hoodie.partition.ttl.strategy.days.retain": "1"}),
        "deduplicate": lambda: services.deduplicate("oslo", options=option),
        "rescale_buckets": lambda: services.rescale_buckets(".*,4", options=option),
    }
    ((name, value),) = option.items()
    for call in calls.values():
        merged.refused(OptionError, call, f"{name}={value} contradicts table t")
    services.compact(options={"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"})


@pytest.mark.parametrize("named", ["/elsewhere/outside", "../outside", "oslo/../../outside", ".hoodie"])
@pytest.mark.parametrize("what", ["partition", "file", "dropped"])
def test_a_clean_that_leads_out_of_the_table_deletes_nothing(case: Case, named: str, what: str) -> None:
    file = f"{case.outside}/{data_file(case.times[-1])}"
    plan = {
        "partition": CleanPlan("KEEP_LATEST_COMMITS", files={named: (file,)}),
        "file": CleanPlan("KEEP_LATEST_COMMITS", files={"oslo": (f"{named}/{data_file(case.times[-1])}",)}),
        "dropped": CleanPlan("KEEP_LATEST_COMMITS", files={}, partitions_to_delete=(named,)),
    }[what]
    case.plan("clean", encode_clean_plan(plan, sync=SYNC))
    case.refused(CorruptTableError, case.table.services.clean, f"clean {AT}", str(case.path), f"Move the files {AT}.clean.inflight")
    case.refused_command(1, "clean", str(case.path))


def request(case: Case, what: str) -> RollbackRequest:
    file = data_file(case.times[-1])
    return {
        "parent": RollbackRequest("../outside", files_to_delete=(f"{case.outside}/{file}",)),
        "absolute": RollbackRequest(str(case.outside), files_to_delete=(f"{case.outside}/{file}",)),
        "own folder": RollbackRequest(".hoodie", files_to_delete=(".hoodie/hoodie.properties",)),
        "file of the parent": RollbackRequest("oslo", files_to_delete=(f"../outside/{file}",)),
        "absolute file": RollbackRequest("oslo", files_to_delete=(f"{case.outside}/{file}",)),
        "other partition": RollbackRequest("oslo", files_to_delete=(f"{case.path}/rome/{file}",)),
        "no data file": RollbackRequest("oslo", files_to_delete=("/etc/passwd",)),
        "log blocks": RollbackRequest("../outside", file_id="a-0", latest_base_instant=case.times[-1], log_blocks_to_delete={"x": 1}),
        "file group": RollbackRequest("oslo", file_id="../../a", latest_base_instant=case.times[-1], log_blocks_to_delete={"x": 1}),
        "no slice": RollbackRequest("oslo", log_blocks_to_delete={"x": 1}),
    }[what]


@pytest.mark.parametrize(
    "what",
    [
        "parent",
        "absolute",
        "own folder",
        "file of the parent",
        "absolute file",
        "other partition",
        "no data file",
        "log blocks",
        "file group",
        "no slice",
    ],
)
def test_a_rollback_that_leads_out_of_the_table_deletes_nothing_by_any_door(case: Case, what: str) -> None:
    plan = RollbackPlan(InstantInfo(case.times[-1], "commit"), (request(case, what),))
    case.plan("rollback", encode_rollback_plan(plan, sync=SYNC))
    words = (f"rollback {AT}", str(case.path), "Nothing is deleted by it")
    case.refused(CorruptTableError, case.table.services.rollback, *words)
    case.refused(CorruptTableError, lambda: case.table.upsert([{"id": 3, "city": "oslo", "value": 1}]), *words)
    case.refused_command(1, "clean", str(case.path))
    assert case.table.count() == 2


@pytest.mark.parametrize(
    "info", [None, InstantInfo("../../../outside", "commit"), InstantInfo("", "commit"), InstantInfo("a/b", "commit"), InstantInfo(AT, "x")]
)
def test_a_rollback_of_what_is_no_instant_is_refused(case: Case, info: InstantInfo | None) -> None:
    case.plan("rollback", encode_rollback_plan(RollbackPlan(info, ()), sync=SYNC))
    case.refused(CorruptTableError, case.table.services.rollback, f"rollback {AT}", str(case.path))


def test_the_advice_on_a_damaged_rollback_can_be_followed(case: Case) -> None:
    plan = RollbackPlan(InstantInfo(case.times[-1], "commit"), (request(case, "parent"),))
    case.plan("rollback", encode_rollback_plan(plan, sync=SYNC))
    case.refused(CorruptTableError, case.table.services.rollback, f"{AT}.rollback.requested")
    case.table.storage.delete(f".hoodie/timeline/{AT}.rollback.requested")
    case.table.upsert([{"id": 3, "city": "oslo", "value": 1}])
    assert HudiTable.open(str(case.path)).count() == 3


@pytest.mark.parametrize("rolled_back", [["../../../outside"], ["target"], ["last", "target"], ["first"]])
def test_a_restore_of_what_is_no_later_commit_is_refused(case: Case, rolled_back: list[str]) -> None:
    names = {"first": case.times[0], "target": case.times[1], "last": case.times[2]}
    instants = tuple(InstantInfo(names.get(name, name), "commit") for name in rolled_back)
    case.plan("restore", encode_restore_plan(RestorePlan(instants, case.times[1]), sync=SYNC))
    case.refused(CorruptTableError, case.table.services.restore, f"restore {AT}", str(case.path), "no later commit")
    case.refused_command(1, "restore", str(case.path))


@pytest.mark.parametrize(
    "operation",
    [
        CompactionOperation(AT, "a-0", "../outside", data_file(AT), ()),
        CompactionOperation(AT, "a-0", "/etc", data_file(AT), ()),
        CompactionOperation(AT, "a-0", "oslo", f"../outside/{data_file(AT)}", ()),
        CompactionOperation(AT, "a-0", "oslo", None, ("/etc/passwd",)),
        CompactionOperation(AT, "../../a", "oslo", None, ()),
        CompactionOperation(AT, None, "oslo", None, ()),
    ],
)
def test_a_compaction_that_leads_out_of_the_table_is_refused(merged: Case, operation: CompactionOperation) -> None:
    merged.plan("compaction", encode_compaction_plan(CompactionPlan((operation,)), sync=SYNC))
    run = lambda: merged.table.services.compact(mode="execute")  # noqa: E731
    merged.refused(CorruptTableError, run, f"compaction {AT}", str(merged.path))
    merged.refused_command(1, "compact", str(merged.path), "--mode", "execute")
    assert merged.table.count() == 2
    merged.is_removed_by_rollback("compaction")


@pytest.mark.parametrize(("path", "file_id"), [("../outside", "a-0"), ("/etc", "a-0"), ("oslo", "../../a"), ("oslo", None)])
def test_a_clustering_that_leads_out_of_the_table_is_refused(case: Case, path: str, file_id: str | None) -> None:
    slices = (ClusteringSlice(file_id=file_id, partition_path=path, data_file=data_file(AT), delta_files=(), bootstrap_file=""),)
    plan = ClusteringPlan((ClusteringGroup(slices=slices, metrics={}, output_file_groups=1),), RUN)
    case.plan("clustering", encode_clustering_plan(plan, sync=SYNC))
    run = lambda: case.table.services.cluster(mode="execute")  # noqa: E731
    case.refused(CorruptTableError, run, f"clustering {AT}", str(case.path), "from a copy", f"rollback('{AT}')")
    case.refused_command(1, "cluster", str(case.path), "--mode", "execute")
    case.is_removed_by_rollback("clustering")


@pytest.mark.parametrize("name", ["../../outside", "/etc", ".hoodie", "secondary_index_../../../outside"])
def test_a_build_of_what_is_no_index_deletes_nothing(case: Case, name: str) -> None:
    case.plan("indexing", encode_indexing_plan(Indexing((IndexedPartition(name, case.times[-1]),)), sync=SYNC))
    for call in (lambda: case.table.services.index(mode="execute"), lambda: case.table.services.rollback(AT)):
        case.refused(CorruptTableError, call, f"indexing {AT}", str(case.path), name)
    case.refused_command(1, "index", str(case.path), "--mode", "execute")


def test_a_build_of_an_unknown_index_can_be_rolled_back(case: Case) -> None:
    case.plan("indexing", encode_indexing_plan(Indexing((IndexedPartition("vector_index", case.times[-1]),)), sync=SYNC))
    case.refused(UnsupportedError, lambda: case.table.services.index(mode="execute"), "vector_index", AT, "roll it back")
    case.table.services.rollback(AT)
    assert "vector_index" not in case.table.config.metadata_partitions
    case.table.upsert([{"id": 3, "city": "oslo", "value": 1}])


@pytest.mark.parametrize("action", ["clean", "rollback", "restore", "clustering", "indexing", "compaction"])
def test_a_plan_that_cannot_be_read_is_refused(merged: Case, action: str) -> None:
    merged.plan(action, b"no plan")
    services = merged.table.services
    calls: dict[str, tuple[Callable[[], object], str]] = {
        "clean": (services.clean, "clean"),
        "rollback": (services.rollback, "clean"),
        "restore": (services.restore, "restore"),
        "clustering": (lambda: services.cluster(mode="execute"), "cluster"),
        "indexing": (lambda: services.index(mode="execute"), "index"),
        "compaction": (lambda: services.compact(mode="execute"), "compact"),
    }
    call, command = calls[action]
    merged.refused(CorruptTableError, call, f"{AT}.{action}.requested", str(merged.path))
    plan_only = ("--mode", "execute") if command in ("cluster", "index", "compact") else ()
    merged.refused_command(1, command, str(merged.path), *plan_only)


PLAN = "hoodie.clustering.plan.strategy."
OPTIONS: list[tuple[str, dict[str, str], type[HudiError]]] = [
    ("clean", {"hoodie.clean.commits.retained": "0"}, OptionError),
    ("clean", {"hoodie.clean.hours.retained": "-3"}, OptionError),
    ("clean", {"hoodie.clean.policy": "KEEP_ALL"}, OptionError),
    ("archive", {"hoodie.keep.min.commits": "0"}, OptionError),
    ("archive", {"hoodie.keep.max.commits": "-1"}, OptionError),
    ("ttl", {"hoodie.partition.ttl.strategy.days.retain": "0"}, OptionError),
    ("ttl", {"hoodie.partition.ttl.strategy.days.retain": "-1"}, OptionError),
    ("ttl", {"hoodie.partition.ttl.strategy.class": "com.acme.X", "hoodie.partition.ttl.strategy.days.retain": "1"}, OptionError),
    ("cluster", {"hoodie.clustering.plan.strategy.sort.columns": "amuont"}, OptionError),
    ("cluster", {"hoodie.layout.optimize.strategy": "circle"}, OptionError),
    ("cluster", {f"{PLAN}cluster.begin.partition": "b", f"{PLAN}cluster.end.partition": "a"}, OptionError),
    ("compact", {"hoodie.compaction.logfile.num.threshold": "-1"}, OptionError),
    ("compact", {"hoodie.compaction.logfile.size.threshold": "-1"}, OptionError),
    ("cluster", {"hoodie.clustering.plan.strategy.class": "com.acme.X"}, UnsupportedError),
    ("cluster", {"hoodie.clustering.execution.strategy.class": "com.acme.X"}, UnsupportedError),
    ("cluster", {"hoodie.clustering.updates.strategy": "com.acme.X"}, UnsupportedError),
    ("compact", {"hoodie.compaction.strategy": "com.acme.X"}, UnsupportedError),
]


@pytest.mark.parametrize(("command", "options", "kind"), OPTIONS, ids=[f"{command} {min(options)}" for command, options, _ in OPTIONS])
def test_a_value_that_cannot_be_is_refused_by_name(merged: Case, command: str, options: Mapping[str, str], kind: type[HudiError]) -> None:
    method: Callable[..., Any] = getattr(merged.table.services, command)
    merged.refused(kind, lambda: method(options=options), min(options))
    flags = [part for key, value in options.items() for part in ("--option", f"{key}={value}")]
    merged.refused_command(2 if issubclass(kind, UsageError) else 1, command, str(merged.path), *flags)


def test_a_savepointed_commit_is_neither_cleaned_nor_rolled_back(case: Case) -> None:
    case.table.services.savepoint(case.times[0])
    for value in range(3):
        case.table.upsert([{"id": 1, "city": "oslo", "value": value}])
    case.table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    assert case.table.count(as_of=case.times[0]) == 2
    last = case.table.services.savepoint().instant
    case.before = case.files()
    case.refused(UsageError, lambda: case.table.services.rollback(last), last, str(case.path), "delete that first")
    case.refused_command(2, "rollback", str(case.path), last)
    case.refused_command(2, "restore", str(case.path), case.times[1])


def test_a_restore_to_a_cleaned_commit_is_refused(case: Case) -> None:
    case.table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    case.before = case.files()
    case.refused(UsageError, lambda: case.table.services.restore(to=case.times[0]), case.times[0], str(case.path), "earliest time")
    case.refused_command(2, "restore", str(case.path), case.times[0])
    case.refused_command(2, "restore", str(case.path), "yesterday")


def test_a_link_out_of_the_table_is_not_followed(case: Case) -> None:
    (case.path / "link").symlink_to(case.outside)
    file = data_file(case.times[-1])
    plan = CleanPlan("KEEP_LATEST_COMMITS", files={"link": (f"{case.path}/link/{file}",)})
    case.plan("clean", encode_clean_plan(plan, sync=SYNC))
    case.table.services.clean()
    assert sorted(path.name for path in case.outside.iterdir()) == [data_file(time) for time in sorted(case.times)]


INLINE: dict[str, dict[str, str]] = {
    "cluster": {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
    "ttl": {"hoodie.partition.ttl.inline": "true"},
    "compact": {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
}


OF_WRITES = [one for one in OPTIONS if min(one[1]) != "hoodie.clustering.plan.strategy.sort.columns"]


@pytest.mark.parametrize(("command", "options", "kind"), OF_WRITES, ids=[f"{command} {min(options)}" for command, options, _ in OF_WRITES])
def test_a_write_is_refused_before_it_begins_where_the_service_behind_it_cannot_be(
    merged: Case, command: str, options: Mapping[str, str], kind: type[HudiError]
) -> None:
    write = lambda: merged.table.upsert([{"id": 9, "city": "oslo", "value": 1}], INLINE.get(command, {}) | dict(options))  # noqa: E731
    merged.refused(kind, write, min(options))


def test_a_restore_to_an_archived_commit_is_refused_by_each_door(case: Case) -> None:
    few = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
    for value in range(6):
        case.table.upsert([{"id": 1, "city": "oslo", "value": value}], few | {"hoodie.metadata.compact.max.delta.commits": "1"})
    archived = case.times[0]
    assert not list((case.path / ".hoodie/timeline").glob(f"{archived}*")), "it was archived"
    case.before = case.files()
    case.refused(UsageError, lambda: case.table.services.restore(to=archived), archived, str(case.path))
    case.refused(UsageError, lambda: case.table.services.savepoint(archived), archived, str(case.path))
    case.refused(UsageError, lambda: case.table.services.rollback(archived), archived, str(case.path))
    for command in ("restore", "savepoint", "rollback"):
        arguments = ("create",) if command == "savepoint" else ()
        case.refused_command(2, command, *arguments, str(case.path), archived)


@pytest.mark.parametrize("to", ["5", "7", "10", "ten", "-9", "\u0669"])
def test_a_change_to_what_is_no_version_is_refused(case: Case, to: str) -> None:
    for name in ("upgrade", "downgrade"):
        case.refused(OptionError, lambda change=name: getattr(case.table.services, change)(to), f"'{to}'", "6, 8, 9")  # type: ignore[misc]
        case.refused_command(2, name, str(case.path), f"--to={to}")


def test_a_write_tells_of_the_clustering_behind_it_that_cannot_be(case: Case) -> None:
    """Which columns there are is known when the write is committed, which may bring a new one."""
    options = INLINE["cluster"] | {"hoodie.clustering.plan.strategy.sort.columns": "amuont"}
    done = case.table.upsert([{"id": 9, "city": "oslo", "value": 1}], options)
    (failure,) = done.failed_services
    assert "amuont" in failure
    assert case.table.count() == 3
    assert case.table.history()["action"].to_pylist()[-1] == "commit"
