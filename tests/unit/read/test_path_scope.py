"""Which partitions and files of a table folders and patterns name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, OptionError, TableNotFound, UnsupportedError, UsageError
from pyhudi.read.snapshot.find_table import find_table
from pyhudi.read.snapshot.path_scope import PathScope, file_pattern

SCHEMA = pa.schema({"id": pa.int64(), "ts": pa.int64(), "y": pa.string(), "m": pa.string()})
PATHS = "hoodie.datasource.read.paths"


@pytest.fixture(scope="module", params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "t"
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["y", "m"], order_by=["ts"], table_type=request.param)
    table.upsert([row(1, 1, "a", "x"), row(2, 1, "a", "x"), row(3, 1, "a", "y"), row(4, 1, "b", "x")])
    table.upsert([row(1, 2, "a", "x"), row(4, 0, "b", "x")])
    table.delete([row(2, 3, "a", "x")])
    return path


@pytest.fixture
def table(written: Path, tmp_path: Path) -> HudiTable:
    return HudiTable.open(shutil.copytree(written, tmp_path / "t"))


def row(key: int, ts: int, y: str, m: str) -> dict[str, object]:
    return {"id": key, "ts": ts, "y": y, "m": m}


def ids(rows: pa.Table) -> list[int]:
    return sorted(rows["id"].to_pylist())


@pytest.mark.parametrize(
    ("path", "partition", "holds", "may_hold"),
    [
        ("a", "a/x", True, True),
        ("a", "b/x", False, False),
        ("a", "ab/x", False, False),
        ("a/x", "a", False, True),
        ("*/*", "a/x", True, True),
        ("*/*/*", "a/x", True, True),
        ("*/*/*.parquet", "a/x", True, True),
        ("*/*/*/*", "a/x", False, True),
        ("*/x", "a/x", True, True),
        ("*/x", "a/y", False, False),
        ("{a,b}/x", "b/x", True, True),
        ("{a/x,b/y}", "b/y", True, True),
        ("{a/x,b/y}", "b/x", False, False),
        ("[ab]/?", "b/x", True, True),
        ("[^ab]/?", "b/x", False, False),
        ("y=20[0-2]*/*", "y=2036/m=1", False, False),
        ("y=20[0-2]*/*", "y=2016/m=1", True, True),
        ("a[1]", "a[1]/x", True, True),
        ("*", "", True, True),
        ("a", "", False, True),
    ],
)
def test_folders_and_patterns(path: str, partition: str, holds: bool, may_hold: bool) -> None:
    scope = PathScope((path,))
    assert scope.holds(partition) is holds
    assert scope.may_hold_below(partition) is may_hold or holds


def test_a_pattern_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 1000 paths"):
        PathScope(("{a,b}" * 12,)).holds("x")


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("/a/*", "/t/a/x/f.parquet", True),
        ("/a/*", "/t/b/a", False),
        ("/b/x", "/t/b/x/f", False),
        ("/*/x/*.parquet", "/t/b/x/f.parquet", True),
    ],
)
def test_patterns_of_files(glob: str, path: str, matches: bool) -> None:
    assert bool(file_pattern(glob).fullmatch(path)) is matches


def test_the_table_of_a_path_is_the_nearest_above(table: HudiTable) -> None:
    base = table.storage.uri
    for path, relative in {"": None, "/a/x": "a/x", "/*/*": "*/*", "/a/*/*": "a/*/*"}.items():
        storage, scope = find_table([base + path])
        assert storage.uri == base
        assert (None if scope is None else scope.paths) == (None if relative is None else (relative,))
    assert find_table([f"{base}/a", f"{base}/b/x"])[1] == PathScope(("a", "b/x"))


def test_paths_without_a_table_or_of_several(table: HudiTable, tmp_path: Path) -> None:
    base = table.storage.uri
    for path in (f"{tmp_path}/no/such", f"{tmp_path}/*/a", f"{base}/.hoodie/timeline"):
        with pytest.raises(TableNotFound, match="nor in a folder above it"):
            find_table([path])
    HudiTable.create(tmp_path / "other", SCHEMA, name="o", keys=["id"])
    with pytest.raises(UsageError, match="belong to"):
        find_table([base, str(tmp_path / "other")])
    with pytest.raises(UsageError, match="name either"):
        find_table([base, f"{base}/a"])


@pytest.mark.parametrize(
    ("paths", "expected"), [("a/x", [1]), ("{base}/a", [1, 3]), ("*/x, a/y", [1, 3, 4]), ("file:{base}/b/*", [4]), ("[b-z]/*/*", [4])]
)
def test_only_the_rows_of_some_partitions_are_read(table: HudiTable, paths: str, expected: list[int]) -> None:
    options = {PATHS: paths.replace("{base}", table.storage.uri)}
    assert ids(table.to_arrow(options=options)) == expected
    assert ids(table.scan(options=options).to_table()) == expected
    assert ids(table.changes(options=options)) == expected
    assert ids(table.to_arrow(filter="id = 4", options=options)) == [one for one in expected if one == 4]


def test_partitions_that_are_not_there(table: HudiTable) -> None:
    for read in (table.to_arrow, table.changes):
        with pytest.raises(UsageError, match="has no partition 'c/z'; it has 'a/x', 'a/y', 'b/x'"):
            read(options={PATHS: "c/z"})
        with pytest.raises(UsageError, match="is not below the table"):
            read(options={PATHS: "/elsewhere/a"})


def test_changes_by_files_and_filters(table: HudiTable) -> None:
    glob, filters = "hoodie.datasource.read.incr.path.glob", "hoodie.datasource.read.incr.filters"
    assert ids(table.changes(options={glob: "/a/*"})) == [1, 3]
    assert ids(table.changes(options={glob: "/b/x"})) == []
    assert ids(table.changes(options={filters: "id IN (1, 4), y = 'b'"})) == [4]
    with pytest.raises(OptionError, match="is the argument since here"):
        table.changes(options={"hoodie.datasource.read.begin.instanttime": "earliest"})
    with pytest.raises(OptionError, match="is for snapshots"):
        table.changes(options={"hoodie.datasource.merge.type": "skip_merge"})


def test_values_of_paths(tmp_path: Path) -> None:
    values = {"hoodie.datasource.read.extract.partition.values.from.path": "true"}
    schema = pa.schema({"id": pa.int64(), "x": pa.float64()})
    plain = HudiTable.create(tmp_path / "plain", schema, name="t", keys=["id"], partition_by=["x"])
    stays = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "false"}
    for value in (0.5, 0.75):
        plain.upsert([{"id": 1, "x": value}], options=stays)
    assert plain.to_arrow()["x"].to_pylist() == [0.75]
    assert plain.to_arrow(options=values)["x"].to_pylist() == [0.5]
    times = {"hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS", "hoodie.keygen.timebased.output.dateformat": "yyyy"}
    generator = {"hoodie.datasource.write.keygenerator.type": "TIMESTAMP", **times}
    timed = HudiTable.create(tmp_path / "timed", schema, name="t", keys=["id"], partition_by=["id"], options=generator)
    with pytest.raises(UnsupportedError, match="hold times as strings"):
        timed.to_arrow(options=values)


def test_rows_of_logs_next_to_those_of_base_files(table: HudiTable) -> None:
    unmerged = {"hoodie.datasource.merge.type": "skip_merge"}
    rows = table.to_arrow(["id", "ts"], options=unmerged).to_pylist()
    versions = [(1, 1), (1, 2), (2, 1), (3, 1), (4, 0), (4, 1)] if table.config.is_merge_on_read else [(1, 2), (3, 1), (4, 1)]
    assert sorted((one["id"], one["ts"]) for one in rows) == versions
    assert ids(table.to_arrow()) == [1, 3, 4]
    assert table.scan(options=unmerged).count_rows() == len(versions)
    assert table.to_arrow(filter="ts = 2", options=unmerged).num_rows == 1


def test_paths_by_way_of_a_link_to_the_table(table: HudiTable, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("t")
    linked = HudiTable.open(tmp_path / "link")
    for one, other in ((table, "link"), (linked, "t")):
        for path in (f"{tmp_path}/{other}/a/*", f"file:{tmp_path}/{other}/a"):
            assert ids(one.to_arrow(options={PATHS: path})) == [1, 3]
    assert find_table([f"{tmp_path}/link/a", f"{tmp_path}/t/b"])[1] == PathScope(("a", "b"))
    with pytest.raises(UsageError, match="is not below the table"):
        table.to_arrow(options={PATHS: f"{tmp_path}/link"})


def test_a_partition_that_is_a_link_is_named(table: HudiTable, tmp_path: Path) -> None:
    (tmp_path / "t/a").rename(tmp_path / "elsewhere")
    (tmp_path / "t/a").symlink_to(tmp_path / "elsewhere")
    for options in ({}, {"hoodie.metadata.enable": "false"}):
        with pytest.raises(HudiError, match="'a' is a link, and links inside a table are not followed"):
            table.to_arrow(options=options)


def test_commas_alone_name_no_path(table: HudiTable) -> None:
    with pytest.raises(UsageError, match="=, names no path"):
        table.to_arrow(options={PATHS: ","})
    assert table.to_arrow(options={PATHS: ""}).num_rows == 3
