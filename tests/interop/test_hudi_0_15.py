"""Version 6 is kept for Hudi 0.14 and 0.15: here 0.15.0 reads and continues what pyhudi writes, and the other way round.

Runs where PYHUDI_REFERENCE_0_15_JAR names `hudi-spark3.5-bundle_2.12-0.15.0.jar`; `make interop` sets it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.conftest import count_compared
from tests.interop.failing import FAILS_BEFORE_COMMIT
from tests.interop.kinds import HIVE_STYLE, Kind, Model
from tests.interop.reference import JAR_VARIABLE, PYTHON_VARIABLE, ReferenceFailure, ReferenceHudi
from tests.interop.rows import data, trips
from tests.interop.test_metadata_table_version_6 import INDEXES, check
from tests.interop.test_version_6 import kill_a_write, pending
from tests.slow_cases import slow_cases

OLD_JAR = "PYHUDI_REFERENCE_0_15_JAR"
NOT_INLINE = {"hoodie.compact.inline": "false"}
# The payload class of version 6 that merges by event time; without one 0.15 compares ordering values between log records alone.
EVENT_TIME = {"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"}
COPY_ON_WRITE = Kind("copy_on_write", version=6, order_by=("amount",), options=HIVE_STYLE)
MERGE_ON_READ = Kind("merge_on_read", version=6, order_by=("amount",), table_type="MERGE_ON_READ")
KINDS = (
    COPY_ON_WRITE,
    MERGE_ON_READ,
    Kind("commit_time", version=6, partition_by=()),
    Kind("merge_on_read_by_commit_time", version=6, partition_by=(), table_type="MERGE_ON_READ"),
)


@pytest.fixture(scope="module")
def old_reference(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceHudi]:
    if not os.environ.get(OLD_JAR) or not os.environ.get(PYTHON_VARIABLE):
        pytest.skip(f"{OLD_JAR} and {PYTHON_VARIABLE} are not set")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(JAR_VARIABLE, os.environ[OLD_JAR])
        with ReferenceHudi(tmp_path_factory.mktemp("reference_0_15")) as started:
            yield started
            count_compared(pytestconfig, started)


def old_writes(kind: Kind, reference: ReferenceHudi, path: Path, operation: str, rows: pa.Table, **more: str) -> None:
    given = {key: value for key, value in kind.reference_options(operation).items() if key != "hoodie.write.table.version"}
    given |= {"hoodie.datasource.write.precombine.field": "amount", **NOT_INLINE, **(EVENT_TIME if kind.order_by else {})}
    reference.write(path, rows, "append", given | more)


def assert_both_read(reference: ReferenceHudi, path: Path, model: Model) -> None:
    assert data(reference.read(path)) == model.sorted()
    assert data(HudiTable.open(path).to_arrow()) == model.sorted()
    reference.compared += len(model.rows)


@pytest.mark.parametrize("kind", slow_cases(KINDS, [kind for kind in KINDS if kind is not MERGE_ON_READ]), ids=lambda kind: kind.name)
def test_tables_of_pyhudi_are_continued_by_hudi_0_15(kind: Kind, old_reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    kind.create(tmp_path).insert(model.upsert(trips(0, 8)))
    take_turns(kind, old_reference, tmp_path, model)


@pytest.mark.parametrize("kind", slow_cases([COPY_ON_WRITE, MERGE_ON_READ], [MERGE_ON_READ]), ids=lambda kind: kind.name)
def test_tables_of_hudi_0_15_are_continued_by_pyhudi(kind: Kind, old_reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    old_writes(kind, old_reference, tmp_path, "upsert", model.upsert(trips(0, 8)))
    take_turns(kind, old_reference, tmp_path, model)


def take_turns(kind: Kind, reference: ReferenceHudi, path: Path, model: Model) -> None:
    """Updates, early and late, deletes and an overwrite by each side on what the other left."""
    HudiTable.open(path).upsert(model.upsert(trips(3, 6, amount=2)), NOT_INLINE)
    HudiTable.open(path).upsert(model.upsert(trips(4, 7, amount=1)), NOT_INLINE)
    HudiTable.open(path).delete(model.delete(trips(7, 8, amount=9)), options=NOT_INLINE)
    assert_both_read(reference, path, model)
    old_writes(kind, reference, path, "upsert", model.upsert(trips(2, 10, amount=5)))
    old_writes(kind, reference, path, "delete", model.delete(trips(2, 3, amount=9)))
    HudiTable.open(path).upsert(model.upsert(trips(3, 12, amount=6)), NOT_INLINE)
    assert_both_read(reference, path, model)
    HudiTable.open(path).overwrite(model.upsert(trips(0, 12, amount=8)))
    old_writes(kind, reference, path, "upsert", model.upsert(trips(2, 4, amount=9)))
    assert_both_read(reference, path, model)


def test_each_side_compacts_what_both_wrote(old_reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path, model = MERGE_ON_READ, tmp_path, Model(("amount",))
    kind.create(path).insert(model.upsert(trips(0, 6)))
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(0, 6, amount=1)))
    once = {"hoodie.compact.inline.max.delta.commits": "1"}
    old_reference.sql(f"CALL run_compaction(op => 'schedule', path => '{path}')", conf=once)
    HudiTable.open(path).upsert(model.upsert(trips(0, 4, amount=2)), NOT_INLINE)
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(3, 5, amount=3)))
    assert_both_read(old_reference, path, model)
    old_reference.sql(f"CALL run_compaction(op => 'run', path => '{path}')")
    assert_both_read(old_reference, path, model)
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(0, 4, amount=4)))
    HudiTable.open(path).services.compact()
    assert_both_read(old_reference, path, model)
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(2, 7, amount=5)))
    assert_both_read(old_reference, path, model)


@pytest.mark.parametrize("kind", slow_cases([COPY_ON_WRITE, MERGE_ON_READ], [COPY_ON_WRITE]), ids=lambda kind: kind.name)
def test_hudi_0_15_rolls_back_a_killed_write_of_pyhudi(kind: Kind, old_reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    kind.create(tmp_path).insert(model.upsert(trips(0, 6)))
    HudiTable.open(tmp_path).upsert(model.upsert(trips(0, 6, amount=1)), NOT_INLINE)
    kill_a_write(tmp_path)
    assert_both_read(old_reference, tmp_path, model)
    old_writes(kind, old_reference, tmp_path, "upsert", model.upsert(trips(5, 7, amount=2)))
    assert not pending(tmp_path)
    # 0.15 itself reads a log no further than a rollback block that is later than the table's last commit.
    HudiTable.open(tmp_path).upsert(model.upsert(trips(0, 2, amount=3)), NOT_INLINE)
    assert_both_read(old_reference, tmp_path, model)


@pytest.mark.parametrize("kind", slow_cases([COPY_ON_WRITE, MERGE_ON_READ], [COPY_ON_WRITE]), ids=lambda kind: kind.name)
@pytest.mark.parametrize("markers", slow_cases(["TIMELINE_SERVER_BASED", "DIRECT"], ["DIRECT"]))
def test_pyhudi_rolls_back_a_failed_write_of_hudi_0_15(markers: str, kind: Kind, old_reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    old_writes(kind, old_reference, tmp_path, "upsert", model.upsert(trips(0, 6)))
    old_writes(kind, old_reference, tmp_path, "upsert", model.upsert(trips(0, 6, amount=1)))
    fails = FAILS_BEFORE_COMMIT | {"hoodie.write.markers.type": markers}
    with pytest.raises(ReferenceFailure, match="alidation"):
        old_writes(kind, old_reference, tmp_path, "upsert", trips(2, 12, amount=9), **fails)
    assert pending(tmp_path)
    assert_both_read(old_reference, tmp_path, model)
    HudiTable.open(tmp_path).upsert(model.upsert(trips(5, 7, amount=2)), NOT_INLINE)
    assert not pending(tmp_path)
    assert_both_read(old_reference, tmp_path, model)
    old_writes(kind, old_reference, tmp_path, "upsert", model.upsert(trips(2, 9, amount=3)))
    assert_both_read(old_reference, tmp_path, model)


@pytest.mark.parametrize("kind", slow_cases([COPY_ON_WRITE, MERGE_ON_READ], [MERGE_ON_READ]), ids=lambda kind: kind.name)
def test_metadata_tables_are_continued_by_each_side(kind: Kind, old_reference: ReferenceHudi, tmp_path: Path) -> None:
    # CREATE TABLE of 0.15 makes the timeline's time zone LOCAL, whatever it was, and a changed zone is refused.
    kind = replace(kind, options={**kind.options, "hoodie.table.timeline.timezone": "LOCAL"})
    path, name, model = tmp_path / "t", f"indexed_{kind.name}", Model(kind.order_by)
    kind.create(path).insert(model.upsert(trips(0, 8)), INDEXES)
    for turn in range(4):
        HudiTable.open(path).upsert(model.upsert(trips(turn, turn + 3, amount=turn + 1)), INDEXES)
    old_reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(6, 12, amount=10)), **INDEXES)
    HudiTable.open(path).delete(model.delete(trips(4, 5, amount=99)), options=INDEXES)
    check(old_reference, path, name, model)
    with pytest.raises(ReferenceFailure, match=r"alidation|Unable to infer schema"):
        old_writes(kind, old_reference, path, "upsert", trips(2, 12, amount=60), **INDEXES, **FAILS_BEFORE_COMMIT)
    HudiTable.open(path).upsert(model.upsert(trips(6, 8, amount=70)), INDEXES)
    check(old_reference, path, name, model)
    kill_a_write(path)
    old_writes(kind, old_reference, path, "upsert", model.upsert(trips(5, 7, amount=80)), **INDEXES)
    HudiTable.open(path).upsert(model.upsert(trips(0, 2, amount=90)), INDEXES)  # 0.15 reads no further than its rollback block till then
    check(old_reference, path, name, model)
