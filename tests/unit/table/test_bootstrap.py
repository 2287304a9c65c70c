"""Bootstrapped tables without Spark: what they hold, how they are written to, and what is refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pyhudi import HudiTable
from pyhudi.codec.actions.plan_codec import decode_compaction_plan, decode_requested_replace
from pyhudi.errors import CorruptTableError, HudiError, KeyFieldError, OptionError, TableExists, UnsupportedError, UsageError
from pyhudi.fsview.bootstrap_index import PARTITION_INDEX, indexed_partitions
from tests.bootstrapped import HIVE_STYLE, NO_STATISTICS, SELECTOR, all_amounts, amounts, bootstrap, rides, write_source
from tests.not_none import not_none

FULL = {SELECTOR: "FullRecordBootstrapModeSelector"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "plain")


@pytest.fixture
def table(tmp_path: Path, source: Path) -> HudiTable:
    return bootstrap(tmp_path / "rides", source)


def data_files(path: Path) -> dict[Path, tuple[int, int]]:
    return {file: (file.stat().st_size, file.stat().st_mtime_ns) for file in path.rglob("*.parquet")}


def test_a_bootstrapped_table_holds_the_rows_of_its_source(table: HudiTable) -> None:
    assert amounts(table) == all_amounts()
    assert table.schema.names == ["id", "amount", "ts", "city"]
    skeletons = data_files(Path(table.storage.uri))
    assert len(skeletons) == 6
    assert all(pq.read_schema(file).names[0] == "_hoodie_commit_time" and len(pq.read_schema(file)) == 5 for file in skeletons)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("amount > 45", 14),
        ("_hoodie_record_key = 'k7'", 1),
        ("amount > 45 AND _hoodie_record_key < 'k50'", 4),
        ("city = 'oslo' AND amount < 25", 5),
        ("_hoodie_commit_time = '00000000000001'", 60),
        ("amount > 1000", 0),
    ],
)
def test_filters_on_columns_of_skeleton_and_source(table: HudiTable, condition: str, expected: int) -> None:
    assert table.count(filter=condition) == expected
    read = table.to_arrow(columns=["_hoodie_record_key", "id"], filter=condition)
    assert read.num_rows == expected
    assert read.column(0).to_pylist() == read.column(1).to_pylist()
    assert table.to_arrow(columns=["amount"], filter=condition).num_rows == expected


def test_columns_that_only_the_folders_name(tmp_path: Path) -> None:
    plain = write_source(tmp_path / "plain", hive_style=True, city_in_files=False)
    read = bootstrap(tmp_path / "rides", plain, HIVE_STYLE)
    assert amounts(read) == all_amounts()
    assert read.count(filter="city = 'rome'") == 20
    read.upsert(rides([41], "rome", 1.0, ts=1))
    assert amounts(read) == {**all_amounts(), "k41": 1.0}


def test_time_travel_and_changes(table: HudiTable) -> None:
    bootstrapped = next((Path(table.storage.uri) / ".hoodie/timeline").glob("00000000000001_*")).name[15:32]
    table.upsert(rides([1], "lima", 100.0, ts=1))
    assert amounts(table)["k1"] == 100.0
    assert table.to_arrow(as_of="00000000000001").num_rows == 60
    assert table.to_arrow(as_of="00000000000001", filter="id = 'k1'").column("amount").to_pylist() == [1.0]
    assert table.changes(since="earliest").num_rows == 60
    assert table.changes(since=bootstrapped).column("id").to_pylist() == ["k1"]


@pytest.mark.parametrize(("table_type", "options"), [("COPY_ON_WRITE", {}), ("MERGE_ON_READ", {}), ("MERGE_ON_READ", NO_STATISTICS)])
def test_writes_and_services_keep_the_rows_and_the_source(tmp_path: Path, source: Path, table_type: str, options: dict[str, str]) -> None:
    before = data_files(source)
    written = bootstrap(tmp_path / "rides", source, table_type=table_type)
    expected = all_amounts()

    def check(what: str) -> None:
        assert amounts(written) == expected, what
        assert written.to_arrow(filter="amount > 45").num_rows == sum(amount > 45 for amount in expected.values()), what
        assert written.inspect.verify().num_rows == 0, what

    written.upsert(rides([1, 70], "lima", 100.0, ts=1), options)
    expected |= {"k1": 100.0, "k70": 100.0}
    check("upsert")
    written.insert(rides([71], "oslo", 7.0, ts=1), options)
    expected["k71"] = 7.0
    check("insert")
    written.delete(rides([2, 45], None).append_column("city", pa.array(["lima", "rome"])), options=options)
    del expected["k2"], expected["k45"]
    check("delete")
    written.update({"amount": "amount + 1000"}, where="id = 'k3'")
    expected["k3"] += 1000
    check("update")
    if table_type == "MERGE_ON_READ":
        written.services.compact()
        check("compaction")
    written.services.cluster(options=options)
    check("clustering")
    written.upsert(rides([4], "lima", 9.0, ts=2), options)
    expected["k4"] = 9.0
    written.services.clean(options={"hoodie.clean.commits.retained": "1"})
    check("clean")
    assert data_files(source) == before


def test_savepoint_and_restore(table: HudiTable) -> None:
    table.services.savepoint("00000000000001")
    table.upsert(rides([1], "lima", 100.0, ts=1))
    table.services.restore("00000000000001")
    assert amounts(table) == all_amounts()


def test_plans_name_the_source_files(tmp_path: Path, source: Path) -> None:
    """Apache Hudi takes the source from the plan: without it, it would rewrite rows that have meta columns only."""
    written = bootstrap(tmp_path / "rides", source, table_type="MERGE_ON_READ")
    written.upsert(rides([1], "lima", 100.0, ts=1))
    written.services.compact(mode="schedule")
    written.services.cluster(mode="schedule")
    timeline = Path(written.storage.uri) / ".hoodie/timeline"
    compaction = decode_compaction_plan(next(timeline.glob("*.compaction.requested")).read_bytes())
    assert [one.bootstrap_file for one in not_none(compaction.operations)] == [f"file:{source}/lima/a.parquet"]
    clustering = decode_requested_replace(next(timeline.glob("*.clustering.requested")).read_bytes()).plan
    planned = [one.bootstrap_file for group in not_none(not_none(clustering).groups) for one in not_none(group.slices)]
    assert planned
    assert all(not_none(file).startswith(f"file:{source}/") for file in planned)
    written.services.cluster()
    written.services.compact()
    assert amounts(written) == {**all_amounts(), "k1": 100.0}


def test_modes_by_regular_expression(tmp_path: Path, source: Path) -> None:
    options = {SELECTOR: "org.apache.hudi.client.bootstrap.selector.BootstrapRegexModeSelector", f"{SELECTOR}.regex": "o.*"}
    mixed = bootstrap(tmp_path / "rides", source, options)
    assert amounts(mixed) == all_amounts()
    instants = {row["city"]: row["_hoodie_commit_time"] for row in mixed.to_arrow(meta_columns=True).to_pylist()}
    assert instants == {"lima": "00000000000002", "oslo": "00000000000001", "rome": "00000000000002"}
    assert [one.partition_path for one in indexed_partitions(mixed.storage)] == ["oslo"]


def test_full_records_need_no_source_afterwards(tmp_path: Path, source: Path) -> None:
    copied = bootstrap(tmp_path / "rides", source, FULL)
    for file in data_files(source):
        file.unlink()
    assert amounts(copied) == all_amounts()


def test_folders_that_are_encoded_become_decoded_partitions(tmp_path: Path) -> None:
    folder = tmp_path / "plain" / "S%C3%A3o"
    folder.mkdir(parents=True)
    pq.write_table(rides([1], "S\u00c3\u00a3o"), folder / "a.parquet")
    translator = {"hoodie.bootstrap.partitionpath.translator.class": "DecodedBootstrapPartitionPathTranslator"}
    assert bootstrap(tmp_path / "rides", tmp_path / "plain", translator).count() == 1


def test_nested_partitions(tmp_path: Path) -> None:
    for year, month in (("2025", "12"), ("2026", "1")):
        folder = tmp_path / "plain" / f"year={year}" / f"month={month}"
        folder.mkdir(parents=True)
        pq.write_table(rides([int(month)], None), folder / "a.parquet")
    table = HudiTable.bootstrap(
        tmp_path / "t", tmp_path / "plain", name="t", keys=["id"], partition_by=["year", "month"], options=HIVE_STYLE
    )
    assert table.to_arrow(columns=["id", "year", "month"], filter="year = 2026").to_pylist() == [{"id": "k1", "year": 2026, "month": 1}]


def test_a_source_that_changed_or_is_missing_is_named(table: HudiTable, source: Path) -> None:
    file = source / "oslo" / "b.parquet"
    content, status = file.read_bytes(), file.stat()
    os.utime(file, (1, 1))
    with pytest.raises(CorruptTableError, match=r"oslo/b\.parquet.*modified at 1000"):
        table.to_arrow()
    pq.write_table(rides([32], "oslo"), file)
    with pytest.raises(CorruptTableError, match=r"oslo/b\.parquet.*bytes instead of"):
        table.upsert(rides([32], "oslo", 1.0, ts=1))
    file.unlink()
    with pytest.raises(CorruptTableError, match=r"oslo/b\.parquet.*is missing"):
        table.count(filter="amount > 0")
    assert table.count(filter="city = 'lima'") == 20
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert amounts(table) == all_amounts()


def test_a_verification_reads_the_sources(table: HudiTable, source: Path) -> None:
    assert table.inspect.verify().num_rows == 0
    (source / "lima" / "a.parquet").unlink()
    (damage,) = table.inspect.verify().to_pylist()
    assert (damage["kind"], damage["path"].partition("/")[0]) == ("source file", "lima")
    assert "lima/a.parquet, which holds the data of file" in damage["problem"]
    assert "is missing" in damage["problem"]


def test_a_skeleton_without_index_is_never_read_as_nulls(table: HudiTable, tmp_path: Path) -> None:
    shutil.copytree(table.storage.uri, tmp_path / "copy")
    (tmp_path / "copy" / PARTITION_INDEX).unlink()
    with pytest.raises(CorruptTableError, match="does not name the source file"):
        HudiTable.open(tmp_path / "copy").to_arrow()


def _not_parquet(source: Path) -> None:
    (source / "oslo" / "c.parquet").write_bytes(b"id,amount\n1,2\n")


def _csv(source: Path) -> None:
    (source / "oslo" / "c.csv").write_bytes(b"id,amount\n1,2\n")


def _orc(source: Path) -> None:
    orc.write_table(rides([1], "oslo"), source / "oslo" / "c.orc")


def _empty(source: Path) -> None:
    (source / "oslo" / "c.parquet").write_bytes(b"")


def _of_hive(source: Path) -> None:
    pq.write_table(rides([90], "oslo"), source / "oslo" / "000000_0")


def _null_key(source: Path) -> None:
    pq.write_table(rides([1], "oslo").set_column(0, "id", pa.array([None], pa.string())), source / "oslo" / "c.parquet")


def _other_partition(source: Path) -> None:
    pq.write_table(rides([90], "rome"), source / "oslo" / "c.parquet")


def _other_types(source: Path) -> None:
    pq.write_table(rides([90], "oslo").set_column(1, "amount", pa.array([[1]])), source / "oslo" / "c.parquet")


@pytest.mark.parametrize(
    ("spoil", "error", "match"),
    [
        (_not_parquet, UsageError, r"oslo/c\.parquet.*no Parquet file"),
        (_csv, UsageError, r"oslo/c\.csv.*no Parquet file"),
        (_orc, UsageError, r"oslo/c\.orc.*an ORC file.*Parquet files only"),
        (_empty, UsageError, r"oslo/c\.parquet.*is empty: take it away, or call it '_c\.parquet'"),
        (_of_hive, UsageError, r"oslo/000000_0'.*a Parquet file whose name does not end in '\.parquet': give it a name that does"),
        (_null_key, KeyFieldError, "id"),
        (_other_partition, KeyFieldError, "holds rows of the partition 'rome'"),
        (_other_types, UsageError, r"oslo/c\.parquet"),
    ],
)
def test_sources_that_make_no_table_leave_nothing(
    tmp_path: Path, source: Path, spoil: Callable[[Path], None], error: type[HudiError], match: str
) -> None:
    spoil(source)
    with pytest.raises(error, match=match):
        bootstrap(tmp_path / "new" / "rides", source)
    assert not (tmp_path / "new").exists()
    (tmp_path / "rides").mkdir()
    with pytest.raises(error, match=match):
        bootstrap(tmp_path / "rides", source)
    assert not list((tmp_path / "rides").iterdir())
    (source / "oslo" / "c.parquet").unlink(missing_ok=True)
    for name in ("c.csv", "c.orc", "000000_0"):
        (source / "oslo" / name).unlink(missing_ok=True)
    assert amounts(bootstrap(tmp_path / "rides", source)) == all_amounts()


def test_a_source_without_files_is_refused(tmp_path: Path, source: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "nothing", source / "lima" / "a.parquet"):
        with pytest.raises(UsageError, match="no Parquet file"):
            bootstrap(tmp_path / "rides", path)


def test_a_completed_bootstrap_is_rolled_back_and_made_again(table: HudiTable, source: Path) -> None:
    table.services.rollback("00000000000001")
    assert HudiTable.open(table.storage.uri).count() == 0
    assert not [file for file in data_files(Path(table.storage.uri)) if ".hoodie" not in file.parts]
    assert len(data_files(source)) == 6
    assert amounts(bootstrap(Path(table.storage.uri), source)) == all_amounts()


def test_a_bootstrap_below_later_commits_is_not_rolled_back(table: HudiTable) -> None:
    table.upsert(rides([1], "lima", 100.0, ts=1))
    with pytest.raises(UsageError, match="roll back the later ones first"):
        table.services.rollback("00000000000001")


def test_the_copies_of_a_mixed_bootstrap_are_rolled_back_alone(tmp_path: Path, source: Path) -> None:
    options = {SELECTOR: "BootstrapRegexModeSelector", f"{SELECTOR}.regex": "oslo"}
    mixed = bootstrap(tmp_path / "rides", source, options)
    mixed.services.rollback("00000000000002")
    assert HudiTable.open(mixed.storage.uri).count() == 20
    assert amounts(bootstrap(tmp_path / "rides", source, options)) == all_amounts()


def test_links_do_not_hide_that_source_and_table_are_not_apart(tmp_path: Path, source: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(source)
    for path, folder in ((link / "t", source), (source / "lima" / "t", link), (link, source)):
        with pytest.raises(UsageError, match="two folders"):
            bootstrap(path, folder)
    assert sorted(one.name for one in source.iterdir()) == ["lima", "oslo", "rome"]


def test_a_link_to_the_source_that_leads_elsewhere_later(tmp_path: Path, source: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(source)
    table = bootstrap(tmp_path / "rides", link)
    assert amounts(table) == all_amounts()
    other = write_source(tmp_path / "other")
    for file in data_files(other):
        os.utime(file, (1, 1))
    link.unlink()
    link.symlink_to(other)
    with pytest.raises(CorruptTableError, match="has changed since the table was bootstrapped"):
        table.to_arrow()


def test_links_inside_the_source_are_refused_rather_than_left_out(tmp_path: Path, source: Path) -> None:
    other = write_source(tmp_path / "other")
    for name, target in (("peru", other / "lima"), ("lima/c.parquet", other / "lima" / "a.parquet"), ("oslo/nothing", tmp_path / "none")):
        link = source / name
        link.symlink_to(target)
        with pytest.raises(UsageError, match=f"'{name}' of .* is a link"):
            bootstrap(tmp_path / "deep" / "rides", source)
        link.unlink()
        assert not (tmp_path / "deep").exists()
    (source / "_hidden").symlink_to(other)
    assert amounts(bootstrap(tmp_path / "rides", source)) == all_amounts()


def test_source_and_table_are_apart(tmp_path: Path, source: Path) -> None:
    for path in (source, source / "lima" / "t", tmp_path):
        with pytest.raises(UsageError, match="two folders"):
            bootstrap(path, source)


def test_there_is_a_table_already(table: HudiTable, source: Path, tmp_path: Path) -> None:
    with pytest.raises(TableExists, match="already"):
        bootstrap(Path(table.storage.uri), source)
    with pytest.raises(UsageError, match="is a Hudi table"):
        bootstrap(tmp_path / "other", Path(table.storage.uri))
    assert amounts(table) == all_amounts()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"hoodie.bootstrap.mode": "x"}, OptionError, "no option of a bootstrap"),
        ({SELECTOR: "org.mine.Selector"}, UnsupportedError, "org.mine.Selector"),
        ({f"{SELECTOR}.regex": "x"}, OptionError, "says nothing without"),
        ({SELECTOR: "BootstrapRegexModeSelector", f"{SELECTOR}.regex": "("}, OptionError, "no regular expression"),
        ({SELECTOR: "BootstrapRegexModeSelector", f"{SELECTOR}.regex.mode": "HALF"}, OptionError, "HALF"),
        ({"hoodie.bootstrap.parallelism": "0"}, OptionError, "parallelism"),
        ({"hoodie.bootstrap.index.type": "NO_OP"}, UnsupportedError, "NO_OP"),
        ({"hoodie.bootstrap.base.path": "/elsewhere"}, UsageError, "give one of them"),
        ({"hoodie.bootstrap.partitionpath.translator.class": "Mine"}, UnsupportedError, "Mine"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, source: Path, options: dict[str, str], error: type[HudiError], match: str) -> None:
    with pytest.raises(error, match=match):
        bootstrap(tmp_path / "rides", source, options)
    assert not (tmp_path / "rides").exists()


@pytest.mark.parametrize("selector", ["MetadataOnly", "FullRecord"])
def test_columns_without_nulls_beside_a_column_of_folders(tmp_path: Path, selector: str) -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("fare", pa.float64(), nullable=False)])
    for day in ("mon", "tue"):
        (tmp_path / "plain" / f"day={day}").mkdir(parents=True)
        rows = pa.Table.from_pylist([{"id": 1 if day == "mon" else 2, "fare": 1.5}], schema=schema)
        pq.write_table(rows, tmp_path / "plain" / f"day={day}" / "a.parquet")
    options = {"hoodie.datasource.write.hive_style_partitioning": "true", SELECTOR: f"{selector}BootstrapModeSelector"}
    table = HudiTable.bootstrap(tmp_path / "t", tmp_path / "plain", name="t", keys=["id"], partition_by=["day"], options=options)
    table.upsert(pa.table({"id": [2], "fare": [2.5], "day": ["tue"]}))
    stored = table.to_arrow(columns=["id", "fare", "day"]).sort_by("id").to_pylist()
    assert stored == [{"id": 1, "fare": 1.5, "day": "mon"}, {"id": 2, "fare": 2.5, "day": "tue"}]
