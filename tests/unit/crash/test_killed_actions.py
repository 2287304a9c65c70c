"""A process dies by SIGKILL in each phase of a commit and of the services; what the next writer does, and what a run of the service
after it does. `tests/interop/test_killed_actions.py` is the same with Apache Hudi as the next writer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from tests.unit.crash.killed_action import NO_SERVICES, PHASES_OF, kill_in, run_action

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "n": pa.int64()})
CITIES = ("oslo", "lima")
KINDS = [(kind, version) for version in (9, 8, 6) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
CASES = [
    (kind, version, action, phase)
    for kind, version in KINDS
    for action, phases in PHASES_OF.items()
    if not (action == "compact" and kind == "COPY_ON_WRITE")
    for phase in phases
]


def rows_from(first: int, end: int, n: int) -> list[dict[str, Any]]:
    return [{"id": id_, "city": CITIES[id_ % 2], "n": n} for id_ in range(first, end)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case)))
def test_next_writer_after_a_process_that_died_in_each_phase(case: tuple[str, int, str, str], tmp_path: Path) -> None:
    kind, version, action, phase = case
    path = tmp_path / "t"
    options = {"hoodie.write.table.version": str(version)}
    HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=["n"], table_type=kind, options=options)
    expected: dict[int, int] = {}

    def upsert(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        expected.update((row["id"], row["n"]) for row in rows)
        return rows

    for n in range(4):
        HudiTable.open(path).upsert(upsert(rows_from(0, 6, n)), options=NO_SERVICES)
        if action == "clean" and kind == "MERGE_ON_READ":
            HudiTable.open(path).services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    killed = rows_from(2, 8, 10)
    kill_in(path, action, phase, killed)
    if action == "upsert" and phase == "completed":
        upsert(killed)
    check(path, expected)
    # Which a planned clustering leaves alone.
    HudiTable.open(path).upsert(upsert(rows_from(20, 24, 4) if action == "cluster" else rows_from(4, 7, 11)), options=NO_SERVICES)
    check(path, expected)
    if action != "upsert":
        run_action(HudiTable.open(path), action, [])
    HudiTable.open(path).upsert(upsert(rows_from(0, 2, 12)), options=NO_SERVICES)
    check(path, expected)
    storage = HudiTable.open(path).storage
    assert timeline_faults(storage) + garbage(storage) + folders_without_metafile(storage) + dangling_references(storage, row_count) == []
    assert HudiTable.open(path).inspect.health().to_pylist() == []
    assert HudiTable.open(path).inspect.verify().to_pylist() == []


def check(path: Path, expected: dict[int, int]) -> None:
    rows = HudiTable.open(path).to_arrow(columns=["id", "n"]).to_pylist()
    assert sorted((row["id"], row["n"]) for row in rows) == sorted(expected.items())
