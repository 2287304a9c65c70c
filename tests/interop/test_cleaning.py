"""Cleaning by each side: both delete the same files of one table, read and continue what the other cleaned, and finish its plans."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.kinds import HIVE_STYLE, Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.slow_cases import slow_cases

NOT_CLEANED = {"hoodie.clean.automatic": "false", "hoodie.compact.inline.max.delta.commits": "2", "hoodie.compact.inline": "true"}
COPY_ON_WRITE = Kind("copy_on_write", options=HIVE_STYLE)
MERGE_ON_READ = replace(COPY_ON_WRITE, name="merge_on_read", table_type="MERGE_ON_READ", order_by=("amount",))
KINDS = [
    COPY_ON_WRITE,
    MERGE_ON_READ,
    replace(COPY_ON_WRITE, name="not_partitioned", partition_by=()),
    replace(COPY_ON_WRITE, name="version_6", version=6),
    replace(MERGE_ON_READ, name="merge_on_read_version_6", version=6),
    replace(MERGE_ON_READ, name="merge_on_read_version_8", version=8),
    replace(COPY_ON_WRITE, name="without_metadata_table"),
]
each_kind = pytest.mark.parametrize("kind", slow_cases(KINDS, KINDS[2:]), ids=lambda kind: kind.name)
POLICIES: dict[str, dict[str, str]] = {
    "commits": {"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "2"},
    "versions": {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"},
    "hours": {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "1"},
}


def of_writes(kind: Kind) -> dict[str, str]:
    return {"hoodie.metadata.enable": "false"} if kind.name == "without_metadata_table" else {}


def written(kind: Kind, path: Path) -> Model:
    """A table of many slices, some of whose file groups were replaced."""
    model = Model(kind.order_by)
    table = kind.create(path)
    options = NOT_CLEANED | of_writes(kind)
    for amount in range(1, 7):
        table.upsert(model.upsert(trips(0, 9, amount=amount)), options=options)
        if amount == 3 and kind.partition_by:
            table.delete(partitions=["city=bern"], options=options)
            for number in range(9):
                if number % 3 == 2:
                    model.rows.pop(f"trip-{number}")
    table.upsert(model.upsert(trips(9, 12, amount=7)), options=options)
    return model


def clean_by_reference(reference: ReferenceHudi, path: Path, options: Mapping[str, str]) -> None:
    given = ",".join(f"{key}={value}" for key, value in options.items())
    reference.sql(f"CREATE TABLE cleaned USING hudi LOCATION '{path}'")
    try:
        reference.sql(f"CALL run_clean(table => 'cleaned', options => '{given}')")
    finally:
        reference.sql("DROP TABLE cleaned")


def data_files(path: Path) -> set[str]:
    return {
        str(file.relative_to(path))
        for file in path.rglob("*")
        if file.is_file()
        and ".hoodie/" not in str(file)
        and (".parquet" in file.name or ".log." in file.name)
        and not file.name.endswith(".crc")
    }


@each_kind
def test_both_sides_delete_the_same_files(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = written(kind, tmp_path / "t")
    for name, options in POLICIES.items():
        ours, theirs = tmp_path / f"ours_{name}", tmp_path / f"theirs_{name}"
        for copy in (ours, theirs):
            shutil.copytree(tmp_path / "t", copy)
        planned = HudiTable.open(ours).services.clean(options=options, dry_run=True)
        before = data_files(ours)
        HudiTable.open(ours).services.clean(options=options)
        clean_by_reference(reference, theirs, options)
        assert data_files(ours) == data_files(theirs), name
        deleted = before - data_files(ours)
        assert bool(deleted) is (name != "hours")
        assert deleted == {f"{path}/{file}".lstrip("/") for one in planned for path, files in one.files.items() for file in files}
        for path in (ours, theirs):
            assert_both_read(reference, path, model.sorted())
            assert HudiTable.open(path).inspect.health().to_pylist() == []


@each_kind
def test_both_sides_continue_what_the_other_cleaned(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = written(kind, path)
    mdt = {"hoodie.clean.commits.retained": "2", "hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5"}
    options = mdt | of_writes(kind)
    for amount in range(8, 14):
        rows = model.upsert(trips(0, 6, amount=amount))
        if amount % 2:
            reference.write(path, rows, "append", kind.reference_options("upsert") | options)
        else:
            HudiTable.open(path).upsert(rows, options=options)
        assert_both_read(reference, path, model.sorted())
    actions = HudiTable.open(path).history()["action"].to_pylist()
    assert actions.count("clean") >= 3
    assert HudiTable.open(path).inspect.health().to_pylist() == []


@pytest.mark.parametrize("kind", slow_cases(KINDS[:2], KINDS[1:]), ids=lambda kind: kind.name)
def test_each_side_finishes_a_plan_of_the_other(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = written(kind, tmp_path / "t")
    options = POLICIES["commits"]
    for by_reference in (True, False):
        path = tmp_path / f"planned_by_reference_{by_reference}"
        shutil.copytree(tmp_path / "t", path)
        if by_reference:
            clean_by_reference(reference, path, options)
        else:
            HudiTable.open(path).services.clean(options=options)
        after = data_files(path)
        (request,) = (path / ".hoodie" / "timeline").glob("*.clean.requested")
        plan = request.read_bytes()
        # The table as it was with the plan on its timeline, which names files by where the table is.
        shutil.rmtree(path)
        shutil.copytree(tmp_path / "t", path)
        request.write_bytes(plan)
        request.with_name(request.name.replace("requested", "inflight")).touch()
        if by_reference:
            HudiTable.open(path).services.clean(options=options)
        else:
            clean_by_reference(reference, path, options)
        assert data_files(path) == after, by_reference
        done = [one for one in HudiTable.open(path).history().to_pylist() if one["action"] == "clean"]
        assert [(one["requested"], one["state"]) for one in done] == [(request.name.split(".")[0], "completed")]
        assert_both_read(reference, path, model.sorted())
