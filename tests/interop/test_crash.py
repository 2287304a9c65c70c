"""A write that one side left unfinished is invisible to both and rolled back by the other side's next write."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.failing import fail_commit
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.interop.rows import trips

KIND = Kind("partitioned")
# Dies by the signal that no handler sees, right before the commit is completed.
KILLED_WRITER = """
import os, signal, sys
import pyhudi.timeline.write_instant as timeline
from pyhudi import HudiTable
from tests.interop.rows import trips

timeline.TimelineWriter.complete = lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL)
HudiTable.open(sys.argv[1]).upsert(trips(2, 12, amount=9), options={"hoodie.write.markers.type": sys.argv[2]})
"""


def timeline_of(path: Path) -> list[str]:
    return sorted(file.name for file in (path / ".hoodie/timeline").iterdir() if not file.name.endswith(".crc"))


def kill_a_write(path: Path, markers: str = "DIRECT") -> str:
    """Kills a writing process at its commit; the request time of the pending instant."""
    command = [sys.executable, "-c", KILLED_WRITER, str(path), markers]
    source = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source / "src"), str(source)])}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    inflight = [name for name in timeline_of(path) if name.endswith(".inflight")]
    return max(inflight).split(".")[0]


@pytest.mark.parametrize("markers", ["DIRECT", "TIMELINE_SERVER_BASED"])
def test_apache_hudi_rolls_back_a_killed_write_of_pyhudi(markers: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model()
    KIND.create(tmp_path / "t").insert(model.upsert(trips(0, 6)))
    pending = kill_a_write(tmp_path / "t", markers)
    files = {file.name for file in (tmp_path / "t/.hoodie/.temp" / pending).iterdir()}
    assert ("MARKERS.type" in files) is (markers == "TIMELINE_SERVER_BASED")
    assert_both_read(reference, tmp_path / "t", model.sorted())

    KIND.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(5, 7, amount=1)))
    assert_both_read(reference, tmp_path / "t", model.sorted())
    names = timeline_of(tmp_path / "t")
    assert [name for name in names if name.endswith(".rollback")]
    assert not [name for name in names if name.startswith(pending)]
    assert not list((tmp_path / "t").rglob(f"*_{pending}.parquet"))
    assert not (tmp_path / "t/.hoodie/.temp" / pending).exists()


@pytest.mark.parametrize("markers", ["TIMELINE_SERVER_BASED", "DIRECT"])
@pytest.mark.parametrize("version", [pytest.param(8, marks=pytest.mark.slow), 9])
def test_pyhudi_rolls_back_a_failed_write_of_apache_hudi(markers: str, version: int, reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind("partitioned", version=version, options={"hoodie.write.markers.type": markers})
    model = Model()
    kind.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(0, 6)))
    fail_commit(reference, tmp_path / "t", trips(2, 12, amount=9), kind.reference_options("upsert"))
    pending = max(name for name in timeline_of(tmp_path / "t") if name.endswith(".inflight")).split(".")[0]
    assert_both_read(reference, tmp_path / "t", model.sorted())

    HudiTable.open(tmp_path / "t").upsert(model.upsert(trips(5, 7, amount=1)))
    assert_both_read(reference, tmp_path / "t", model.sorted())
    assert not [name for name in timeline_of(tmp_path / "t") if name.startswith(pending)]
    assert not list((tmp_path / "t").rglob(f"*_{pending}.parquet"))
    assert not (tmp_path / "t/.hoodie/.temp" / pending).exists()
    kind.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(6, 8, amount=2)))
    assert_both_read(reference, tmp_path / "t", model.sorted())


@pytest.mark.slow
def test_pyhudi_rolls_back_a_write_of_apache_hudi_that_was_killed(reference: ReferenceHudi, tmp_path: Path) -> None:
    """Its process is killed after it has written data files and the markers of its timeline server."""
    model, path = Model(), tmp_path / "t"
    KIND.reference_writes(reference, path, "upsert", model.upsert(trips(0, 6)))
    options = KIND.reference_options("upsert")
    with ReferenceHudi(tmp_path / "killed") as killed:
        with contextlib.suppress(ReferenceFailure, OSError, ValueError), killed.writing(path, trips(2, 12, amount=9), options, seconds=600):
            markers = wait_for_markers(path)
            for process in descendants(killed._process.pid):
                os.kill(process, signal.SIGKILL)
        killed._process.kill()
    pending = max(name for name in timeline_of(path) if name.endswith(".inflight")).split(".")[0]
    assert (markers / "MARKERS.type").read_text() == "TIMELINE_SERVER_BASED"
    assert list(path.rglob(f"*_{pending}.parquet"))
    HudiTable.open(path).upsert(model.upsert(trips(5, 7, amount=1)))
    assert_both_read(reference, path, model.sorted())
    assert not list(path.rglob(f"*_{pending}.parquet"))
    assert not markers.exists()


def wait_for_markers(path: Path) -> Path:
    """Waits until data files of a write are there; the folder of its markers."""
    for _ in range(600):
        for markers in path.glob(".hoodie/.temp/*"):
            if list(path.rglob(f"*_{markers.name}.parquet")):
                return markers
        time.sleep(0.1)
    raise AssertionError("no data file of a pending write")


def descendants(process: int) -> list[int]:
    """The processes that one has started, and these, the youngest first."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    children = [child for child, parent in parents.items() if parent == process]
    return [*(one for child in children for one in descendants(child)), *children]
