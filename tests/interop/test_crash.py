"""A write that one side left unfinished is invisible to both and rolled back by the other side's next write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.failing import fail_commit
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

KIND = Kind("partitioned")
# Dies by the signal that no handler sees, right before the commit is completed.
KILLED_WRITER = """
import os, signal, sys
import pyhudi.timeline.write_instant as timeline
from pyhudi import HudiTable
from tests.interop.rows import trips

timeline.TimelineWriter.complete = lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL)
HudiTable.open(sys.argv[1]).upsert(trips(2, 12, amount=9))
"""


def timeline_of(path: Path) -> list[str]:
    return sorted(file.name for file in (path / ".hoodie/timeline").iterdir() if not file.name.endswith(".crc"))


def kill_a_write(path: Path) -> str:
    """Kills a writing process at its commit; the request time of the pending instant."""
    command = [sys.executable, "-c", KILLED_WRITER, str(path)]
    source = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source / "src"), str(source)])}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    inflight = [name for name in timeline_of(path) if name.endswith(".inflight")]
    return max(inflight).split(".")[0]


def test_apache_hudi_rolls_back_a_killed_write_of_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model()
    KIND.create(tmp_path / "t").insert(model.upsert(trips(0, 6)))
    pending = kill_a_write(tmp_path / "t")
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
