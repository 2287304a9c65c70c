"""Tables of version 6: operations, failed writes and services of each side are continued by the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.spec.files.log_block import BlockType
from tests.interop.failing import fail_commit
from tests.interop.kinds import HIVE_STYLE, Kind, Model, assert_both_read, each_kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips
from tests.interop.test_crash import KILLED_WRITER

COPY_ON_WRITE = Kind("copy_on_write", version=6, options=HIVE_STYLE)
MERGE_ON_READ = Kind("merge_on_read", version=6, order_by=("amount",), table_type="MERGE_ON_READ")
KIND = each_kind([COPY_ON_WRITE, MERGE_ON_READ], long={"copy_on_write"})
NOT_INLINE = {"hoodie.compact.inline": "false"}


def reference_writes(
    kind: Kind, reference: ReferenceHudi, path: Path, operation: str, rows: pa.Table, more: Mapping[str, str] = NOT_INLINE
) -> None:
    reference.write(path, rows, "append", kind.reference_options(operation) | dict(more))


def pending(path: Path) -> set[str]:
    """Requested times of the writes that were begun and not completed."""
    names = [file.name for file in (path / ".hoodie").iterdir()]
    begun = {name.split(".")[0] for name in names if name.endswith(".requested")}
    ended = {name.split(".")[0] for name in names if name.count(".") == 1 and name[0].isdigit() and not name.endswith("inflight")}
    return begun - ended


def rollback_logs(path: Path) -> list[Path]:
    """Log files of the table that hold a rollback block and nothing else."""
    result = []
    for log in path.rglob(".*.log.*"):
        if not log.name.endswith(".crc") and ".hoodie" not in log.parts:
            with log.open("rb") as source:
                kinds = {block.type for block in scan_blocks(source, log.name, log.stat().st_size)}
            result += [log] if kinds == {BlockType.COMMAND} else []
    return result


def kill_a_write(path: Path) -> str:
    """Kills a writing process at its commit; the request time of the pending instant."""
    source = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source / "src"), str(source)])}
    command = [sys.executable, "-c", KILLED_WRITER, str(path), "DIRECT"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    (instant,) = pending(path)
    return instant


@KIND
def test_apache_hudi_rolls_back_a_killed_write_of_pyhudi(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    kind.create(tmp_path).insert(model.upsert(trips(0, 6)))
    HudiTable.open(tmp_path).upsert(model.upsert(trips(3, 5, amount=1)))
    instant = kill_a_write(tmp_path)
    assert_both_read(reference, tmp_path, model.sorted())
    reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(5, 7, amount=1)))
    assert_both_read(reference, tmp_path, model.sorted())
    assert not list(tmp_path.rglob(f"*{instant}*.parquet"))
    assert bool(rollback_logs(tmp_path)) == (kind is MERGE_ON_READ)
    HudiTable.open(tmp_path).upsert(model.upsert(trips(2, 8, amount=2)))
    assert_both_read(reference, tmp_path, model.sorted())


@KIND
@pytest.mark.parametrize("markers", ["TIMELINE_SERVER_BASED", "DIRECT"])
def test_pyhudi_rolls_back_a_failed_write_of_apache_hudi(markers: str, kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = replace(kind, options={**kind.options, "hoodie.write.markers.type": markers})
    model = Model(kind.order_by)
    reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(0, 6)))
    reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(0, 6, amount=1)))
    fail_commit(reference, tmp_path, trips(2, 12, amount=9), kind.reference_options("upsert") | NOT_INLINE)
    (instant,) = pending(tmp_path)
    assert_both_read(reference, tmp_path, model.sorted())
    HudiTable.open(tmp_path).upsert(model.upsert(trips(5, 7, amount=2)))
    assert_both_read(reference, tmp_path, model.sorted())
    assert not list((tmp_path / ".hoodie").rglob(f"{instant}*"))
    assert len(rollback_logs(tmp_path)) == (3 if kind.table_type == "MERGE_ON_READ" else 0)
    reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(6, 8, amount=3)))
    assert_both_read(reference, tmp_path, model.sorted())


def test_a_rollback_that_pyhudi_only_planned_is_carried_out_by_apache_hudi(
    reference: ReferenceHudi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, model = MERGE_ON_READ, Model(("amount",))
    kind.create(tmp_path).insert(model.upsert(trips(0, 6)))
    HudiTable.open(tmp_path).upsert(model.upsert(trips(0, 6, amount=1)))
    kill_a_write(tmp_path)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["pyhudi.service.rollback.failed_writes"], "execute_rollback", killed)
    with pytest.raises(KeyboardInterrupt):
        HudiTable.open(tmp_path).services.rollback()
    monkeypatch.undo()
    reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(5, 7, amount=2)))
    assert_both_read(reference, tmp_path, model.sorted())
    assert len(rollback_logs(tmp_path)) == 3
    HudiTable.open(tmp_path).upsert(model.upsert(trips(0, 8, amount=3)))
    assert_both_read(reference, tmp_path, model.sorted())


@KIND
def test_overwritten_and_dropped_partitions_are_continued(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, model = tmp_path, Model(kind.order_by)
    table = kind.create(path)
    table.insert(model.upsert(trips(0, 6)))
    table.upsert(model.upsert(trips(0, 6, amount=1)))
    for key in ("trip-0", "trip-3"):
        model.rows.pop(key)
    table.overwrite(model.upsert(trips(6, 7)), dynamic=True)  # oslo alone
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(5, 8, amount=2)))
    prefix = "city=" if kind.options else ""
    HudiTable.open(path).delete(partitions=[f"{prefix}bern"])
    for key in ("trip-2", "trip-5"):
        model.rows.pop(key)
    assert_both_read(reference, path, model.sorted())
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(5, 6, amount=3)))
    assert_both_read(reference, path, model.sorted())
    model.rows.clear()
    reference_writes(kind, reference, path, "insert_overwrite_table", model.upsert(trips(0, 4)))
    HudiTable.open(path).upsert(model.upsert(trips(1, 2, amount=4)))
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).bulk_insert(model.upsert(trips(20, 24)))
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(22, 23, amount=4)))
    assert_both_read(reference, path, model.sorted())


@KIND
def test_apache_hudi_cleans_and_archives_commits_of_pyhudi(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    table = kind.create(tmp_path)
    for step in range(6):
        table.upsert(model.upsert(trips(0, 3 + step, amount=step)))
    keep = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    for step in range(6, 8):
        reference_writes(kind, reference, tmp_path, "upsert", model.upsert(trips(0, 2, amount=step)), NOT_INLINE | keep)
    assert list((tmp_path / ".hoodie/archived").glob(".commits_*"))
    assert_both_read(reference, tmp_path, model.sorted())
    HudiTable.open(tmp_path).upsert(model.upsert(trips(5, 9, amount=9)))
    assert_both_read(reference, tmp_path, model.sorted())


@KIND
def test_both_see_the_same_past(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    kind.create(tmp_path).insert(trips(0, 4))
    reference_writes(kind, reference, tmp_path, "upsert", trips(2, 6, amount=1))
    HudiTable.open(tmp_path).delete(trips(0, 3, amount=2))
    for name in sorted(file.name for file in (tmp_path / ".hoodie").glob("2*commit")):
        by_reference = reference.read(tmp_path, as__of__instant=name.split(".")[0])
        assert data(HudiTable.open(tmp_path).to_arrow(as_of=name.split(".")[0])) == data(by_reference)


def test_logs_on_top_of_a_planned_compaction_belong_to_the_slice_it_makes(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path, model = MERGE_ON_READ, tmp_path, Model(("amount",))
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(0, 6, amount=1)))
    HudiTable.open(path).upsert(model.upsert(trips(0, 6, amount=2)))
    once = {"hoodie.compact.inline.max.delta.commits": "1"}
    reference.sql(f"CALL run_compaction(op => 'schedule', path => '{path}')", conf=once)
    (planned,) = pending(path)
    HudiTable.open(path).upsert(model.upsert(trips(3, 6, amount=3)))
    HudiTable.open(path).delete(model.delete(trips(4, 5, amount=9)))
    assert len([log for log in path.rglob(f".*_{planned}.log.*") if not log.name.endswith(".crc")]) == 4
    reference_writes(kind, reference, path, "upsert", model.upsert(trips(5, 7, amount=4)))
    assert_both_read(reference, path, model.sorted())
    reference.sql(f"CALL run_compaction(op => 'run', path => '{path}')")
    assert not pending(path)
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).upsert(model.upsert(trips(0, 8, amount=5)))
    assert_both_read(reference, path, model.sorted())


@KIND
def test_apache_hudi_upgrades_a_table_of_pyhudi_to_version_9(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    kind.create(tmp_path).insert(model.upsert(trips(0, 6)))
    HudiTable.open(tmp_path).upsert(model.upsert(trips(3, 8, amount=1)))
    later = replace(kind, version=9)
    reference_writes(later, reference, tmp_path, "upsert", model.upsert(trips(5, 9, amount=2)))
    assert HudiTable.open(tmp_path).config.version == 9
    assert_both_read(reference, tmp_path, model.sorted())
    HudiTable.open(tmp_path).upsert(model.upsert(trips(0, 9, amount=3)))
    assert_both_read(reference, tmp_path, model.sorted())
