"""Three processes append to one bucket at the same time while it is compacted, and one of them is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from tests.unit.crash import non_blocking_process as writers
from tests.unit.crash.tables import Driver
from tests.unit.crash.test_processes import REPOSITORY, SOURCES
from tests.unit.table.tables import after_heartbeats

DRIVER = Driver(table_type="MERGE_ON_READ", order_by=("value",))


def start(storage: LocalStorage, writer: int, count: int, answers: Path) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, writers.__file__, storage.root, str(writer), str(count)]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{REPOSITORY}"}
    with answers.open("w") as output:
        return subprocess.Popen(arguments, env=environment, stdout=output, stderr=subprocess.STDOUT)


def greatest(rows: list[dict[str, int]]) -> dict[int, int]:
    result: dict[int, int] = {}
    for row in rows:
        result[row["id"]] = max(result.get(row["id"], -1), row["value"])
    return result


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 25])
def test_what_processes_were_told_is_there_and_what_one_that_is_killed_left_is_not(tmp_path: Path, count: int) -> None:
    storage = LocalStorage(str(tmp_path / "rides"))
    DRIVER.create(storage)
    output = [tmp_path / f"{writer}.txt" for writer in range(writers.WRITERS)]
    processes = [start(storage, writer, 1000 if writer == 0 else count, output[writer]) for writer in range(writers.WRITERS)]
    while any(process.poll() is None for process in processes[1:]):
        HudiTable(storage).services.compact(options=writers.OPTIONS)
    processes[0].kill()
    acknowledged_writes = []
    for writer, process in enumerate(processes):
        assert process.wait() == 0 or writer == 0, output[writer].read_text()
        acknowledged_writes += [(writer, int(number)) for number in output[writer].read_text().split()[1:]]
    assert len(acknowledged_writes) >= 2 * count
    after_heartbeats(storage, 3_600).services.clean(options=writers.OPTIONS)
    rows = {row["id"]: row["value"] for row in HudiTable(storage).to_arrow().to_pylist()}
    acknowledged = greatest([row for write in acknowledged_writes for row in writers.rows_of(*write)])
    untold = (
        1 + max(number for writer, number in acknowledged_writes if writer == 0)
        if any(writer == 0 for writer, _ in acknowledged_writes)
        else 0
    )
    possible = greatest([row for write in [*acknowledged_writes, (0, untold)] for row in writers.rows_of(*write)])
    assert rows in (acknowledged, possible)
    assert timeline_faults(storage) == []
    assert garbage(storage) == []
    assert HudiTable(storage).inspect.health().num_rows == 0
