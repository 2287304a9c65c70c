"""Compaction in processes of its own, killed again and again while another process writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyhudi.errors
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import check_at_rest, check_rows, check_sound, ride
from tests.unit.crash.test_cut_compaction import DRIVER

SOURCES = Path(pyhudi.errors.__file__).parents[1]
KILLS = 12


def compactor(storage: LocalStorage) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [sys.executable, "-m", "pyhudi", "compact", storage.root]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_killed_compactions_lose_nothing_and_are_made_up_for(tmp_path) -> None:
    storage, oracle = LocalStorage(str(tmp_path / "rides")), Oracle("id", "city")
    DRIVER.create(storage)
    dice = random.Random(7)
    for number in range(KILLS):
        with compactor(storage) as process:
            ends = time.monotonic() + dice.uniform(0.3, 1.5)
            while time.monotonic() < ends:
                rows = [ride(dice.randrange(20), "oslo", number), ride(100 + dice.randrange(20), "rome", number)]
                DRIVER.write(storage, Operation.UPSERT, rows)
                oracle = oracle.after(Operation.UPSERT, rows)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
        check_rows(storage, oracle, number)
        check_sound(storage, number)
    with compactor(storage) as process:
        stated, _ = process.communicate(timeout=120)
        assert process.returncode == 0, stated
    check_rows(storage, oracle, "after the last compaction")
    assert oracle.agrees(HudiTable(storage).to_arrow(mode="read_optimized").to_pylist())
    check_at_rest(storage, "after the last compaction")
