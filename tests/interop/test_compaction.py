"""Compaction by each side of what the other wrote and planned: rows stay, and both go on writing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model, assert_both_read, each_kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

NOT_INLINE = {"hoodie.compact.inline": "false"}
MERGE_ON_READ = Kind("merge_on_read", order_by=("amount",), table_type="MERGE_ON_READ")
KINDS = [
    MERGE_ON_READ,
    replace(MERGE_ON_READ, name="commit_time", order_by=()),
    replace(MERGE_ON_READ, name="version_8", version=8),
    replace(MERGE_ON_READ, name="version_6", version=6),
    replace(MERGE_ON_READ, name="not_partitioned", partition_by=()),
]
LONG = {"commit_time", "version_8", "not_partitioned"}
KIND = each_kind(KINDS, long=LONG)


def reference_writes(kind: Kind, reference: ReferenceHudi, path: Path, operation: str, rows) -> None:
    reference.write(path, rows, "append", kind.reference_options(operation) | NOT_INLINE)


def reference_compacts(reference: ReferenceHudi, path: Path, operation: str) -> list[str]:
    """Schedules or runs by Apache Hudi; the times of what it did."""
    once = "hoodie.compact.inline.max.delta.commits=1"
    done = reference.sql(f"CALL run_compaction(op => '{operation}', path => '{path}', options => '{once}')")
    return [row["timestamp"] for row in done.to_pylist()]


def log_files(path: Path) -> list[str]:
    """Log files of the newest slices, as pyhudi sees them."""
    slices = HudiTable.open(path).inspect.slices().to_pylist()
    return [name for row in slices if row["latest"] for name in row["log_files"] or ()]


def started(kind: Kind, reference: ReferenceHudi, path: Path) -> Model:
    """A table of Apache Hudi with updates, late ones too, deletes and new rows in its log files."""
    model = Model(kind.order_by)
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(0, 8, amount=5)))
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(3, 6, amount=7)))
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(4, 7, amount=6)))
    reference_writes(kind, reference, path, "delete", model.delete(trips(0, 1, amount=9)))
    return model


@KIND
def test_what_pyhudi_compacted_is_read_and_continued_by_both(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = started(kind, reference, path)
    (done,) = HudiTable.open(path).services.compact()
    assert done.state == "completed"
    assert_both_read(reference, path, model.sorted())
    assert reference.read(path, hoodie__datasource__query__type="read_optimized").num_rows == len(model.rows)
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 5, amount=9)))
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).upsert(model.upsert(trips(1, 10, amount=10)), options=NOT_INLINE)
    assert_both_read(reference, path, model.sorted())


@KIND
def test_apache_hudi_runs_a_plan_of_pyhudi(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = started(kind, reference, path)
    (plan,) = HudiTable.open(path).services.compact(mode="schedule")
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 6, amount=8)))
    HudiTable.open(path).delete(model.delete(trips(7, 8, amount=9)), options=NOT_INLINE)
    assert_both_read(reference, path, model.sorted())
    assert reference_compacts(reference, path, "run") == [plan.instant]
    assert_both_read(reference, path, model.sorted())


@KIND
def test_pyhudi_runs_a_plan_of_apache_hudi(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = started(kind, reference, path)
    planned = reference_compacts(reference, path, "schedule")
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 6, amount=8)))
    HudiTable.open(path).delete(model.delete(trips(7, 8, amount=9)), options=NOT_INLINE)
    assert_both_read(reference, path, model.sorted())
    assert [done.instant for done in HudiTable.open(path).services.compact(mode="execute")] == planned
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(5, 9, amount=11)))
    assert_both_read(reference, path, model.sorted())
    # What came after the plan is still in log files; now it goes into base files, by Apache Hudi.
    reference_compacts(reference, path, "schedule")
    reference_compacts(reference, path, "run")
    assert log_files(path) == []
    assert_both_read(reference, path, model.sorted())


# pyhudi joins no logs of version 6.
@each_kind([kind for kind in KINDS if kind.version > 6], long=LONG)
def test_logs_that_pyhudi_joined_are_read_and_compacted_by_apache_hudi(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = started(kind, reference, path)
    HudiTable.open(path).upsert(model.upsert(trips(3, 5, amount=8)), options=NOT_INLINE)
    HudiTable.open(path).delete(model.delete(trips(5, 6, amount=9)), options=NOT_INLINE)
    (done,) = HudiTable.open(path).services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})
    assert (done.state, done.action) == ("completed", "logcompaction")
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 5, amount=9)))
    assert_both_read(reference, path, model.sorted())
    reference_compacts(reference, path, "schedule")
    reference_compacts(reference, path, "run")
    assert_both_read(reference, path, model.sorted())


def test_plan_that_pyhudi_rolled_back_is_forgotten_by_apache_hudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, kind = tmp_path / "t", MERGE_ON_READ
    model = started(kind, reference, path)
    (planned,) = reference_compacts(reference, path, "schedule")
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 6, amount=8)))
    HudiTable.open(path).services.rollback(planned)
    assert_both_read(reference, path, model.sorted())
    (mdt,) = reference_compacts(reference, path, "run")  # with nothing pending it plans for itself
    assert mdt > planned
    assert log_files(path) == []
    assert_both_read(reference, path, model.sorted())


def test_tables_of_version_6_are_compacted_between_writes_of_apache_hudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, kind = tmp_path / "t", replace(MERGE_ON_READ, version=6)
    model = started(kind, reference, path)
    HudiTable.open(path).services.compact()
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(2, 5, amount=9)))
    assert_both_read(reference, path, model.sorted())
    planned = reference_compacts(reference, path, "schedule")
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(4, 7, amount=10)))
    assert [done.instant for done in HudiTable.open(path).services.compact(mode="execute")] == planned
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "delete", model.delete(trips(1, 3, amount=11)))
    assert_both_read(reference, path, model.sorted())
    (plan,) = HudiTable.open(path).services.compact(mode="schedule")
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(3, 4, amount=12)))
    assert_both_read(reference, path, model.sorted())
    assert reference_compacts(reference, path, "run") == [plan.instant]
    assert_both_read(reference, path, model.sorted())
