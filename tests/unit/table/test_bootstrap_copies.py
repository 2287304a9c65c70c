"""Partitions that a bootstrap copies: rows pass through in parts, small source files become one, layouts are obeyed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.tasks.skeleton_task import run_skeleton_task
from pyhudi.kernels.tasks.write_task import run_write_task
from pyhudi.table.bootstrap import bootstrap_table, copied_rows
from pyhudi.write import bulk_insert_plan
from tests.bootstrapped import SELECTOR, all_amounts, amounts, bootstrap, write_source

FULL = {SELECTOR: "FullRecordBootstrapModeSelector"}


def base_files(table: HudiTable) -> list[Path]:
    return sorted(file for file in Path(table.storage.uri).rglob("*.parquet") if ".hoodie" not in file.parts)


def test_small_source_files_of_a_folder_become_one(tmp_path: Path) -> None:
    table = bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"), FULL)
    assert amounts(table) == all_amounts()
    assert len(base_files(table)) == 3


def test_large_source_files_are_not_joined(tmp_path: Path) -> None:
    source = write_source(tmp_path / "plain")
    largest = max(file.stat().st_size for file in source.rglob("*.parquet"))
    table = bootstrap(tmp_path / "rides", source, {**FULL, "hoodie.parquet.max.file.size": str(largest)})
    assert amounts(table) == all_amounts()
    assert len(base_files(table)) == 6


def test_rows_are_written_before_the_next_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, events, rows = write_source(tmp_path / "plain"), list[str](), copied_rows._rows

    def read(*arguments: Any) -> Any:
        for batch in rows(*arguments):
            events.append("read")
            yield batch

    def written(*arguments: Any) -> Any:
        events.append("write")
        return run_write_task(*arguments)

    monkeypatch.setattr(copied_rows, "_rows", read)
    monkeypatch.setattr(bulk_insert_plan, "run_write_task", written)
    monkeypatch.setattr(bulk_insert_plan, "CHUNK_BYTES", 1)
    table = bootstrap(tmp_path / "rides", source, {**FULL, "hoodie.bootstrap.parallelism": "1"})
    assert events == ["read", "write"] * 6
    assert amounts(table) == all_amounts()


@pytest.mark.parametrize(
    "options", [{"hoodie.bulkinsert.sort.mode": "GLOBAL_SORT"}, {"hoodie.bulkinsert.user.defined.partitioner.sort.columns": "id"}]
)
def test_a_layout_that_sorts_sorts_all_rows(tmp_path: Path, options: dict[str, str]) -> None:
    source = tmp_path / "plain" / "oslo"
    source.mkdir(parents=True)
    for name, ids in (("a", ["k3", "k1"]), ("b", ["k2", "k0"])):
        pq.write_table(pa.table({"id": ids, "amount": [0.0] * 2, "ts": [1] * 2, "city": ["oslo"] * 2}), source / f"{name}.parquet")
    table = bootstrap(tmp_path / "rides", tmp_path / "plain", {**FULL, **options})
    (file,) = base_files(table)
    assert pq.read_table(file, columns=["id"]).column(0).to_pylist() == ["k0", "k1", "k2", "k3"]


def test_one_row_for_each_key(tmp_path: Path) -> None:
    source = tmp_path / "plain" / "oslo"
    source.mkdir(parents=True)
    for name, amount in (("a", 1.0), ("b", 2.0)):
        rows = {"id": ["k1"], "amount": [amount], "ts": pa.array([int(amount)], pa.int64()), "city": ["oslo"]}
        pq.write_table(pa.table(rows), source / f"{name}.parquet")
    assert bootstrap(tmp_path / "twice", tmp_path / "plain", FULL).count() == 2
    assert amounts(bootstrap(tmp_path / "once", tmp_path / "plain", {**FULL, "hoodie.combine.before.insert": "true"})) == {"k1": 2.0}


@pytest.mark.parametrize("parallelism", [1, 3])
def test_parallelism_bounds_the_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallelism: int) -> None:
    """With 3, three tasks wait for each other; with 1, no two are there at once."""
    running, most, lock = set[int](), [0], threading.Lock()
    together = threading.Barrier(parallelism)

    def counted(storage: Any, settings: Any, task: Any) -> Any:
        with lock:
            running.add(task.number)
            most[0] = max(most[0], len(running))
        together.wait(30)
        try:
            return run_skeleton_task(storage, settings, task)
        finally:
            with lock:
                running.remove(task.number)

    monkeypatch.setattr(bootstrap_table, "run_skeleton_task", counted)
    options = {"hoodie.bootstrap.parallelism": str(parallelism)}
    assert amounts(bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"), options)) == all_amounts()
    assert most == [parallelism]
