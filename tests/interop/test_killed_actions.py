"""A process of pyhudi dies by SIGKILL in each phase of a commit and of the services, and Apache Hudi is the next writer: it rolls back, or
completes, what was left, and pyhudi goes on from there. `tests/unit/crash/test_killed_actions.py` is the same with pyhudi alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.testing.invariants import dangling_references, timeline_faults
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.slow_cases import slow_cases
from tests.unit.crash.killed_action import CLEAN, NO_SERVICES, PHASES_OF, kill_in, run_action

CASES = [
    (kind, version, action, phase)
    for version in (9, 8, 6)
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    for action, phases in PHASES_OF.items()
    if not (action == "compact" and kind == "COPY_ON_WRITE")
    for phase in phases
]
FAST = [("MERGE_ON_READ", 9, "compact", "files"), ("COPY_ON_WRITE", 9, "clean", "deleted")]
#: What lets Apache Hudi go on with a service after its write.
CONTINUES = {
    "upsert": {"hoodie.clean.automatic": "false"},
    "clean": CLEAN,
    "compact": {"hoodie.clean.automatic": "false", "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    "cluster": {"hoodie.clean.automatic": "false", "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"},
}


@pytest.mark.parametrize("case", slow_cases(CASES, [case for case in CASES if case not in FAST]), ids=lambda case: " ".join(map(str, case)))
def test_apache_hudi_goes_on_after_a_process_that_died_in_each_phase(
    case: tuple[str, int, str, str], reference: ReferenceHudi, tmp_path: Path
) -> None:
    table_type, version, action, phase = case
    path, model = tmp_path / "t", Model()
    kind = Kind("killed", table_type=table_type, version=version)
    kind.create(path)
    for amount in range(4):
        HudiTable.open(path).upsert(model.upsert(trips(0, 6, amount=amount)), options=NO_SERVICES)
        if action == "clean" and table_type == "MERGE_ON_READ":
            HudiTable.open(path).services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    killed = trips(2, 8, amount=10)
    kill_in(path, action, phase, killed.to_pylist())
    if action == "upsert" and phase == "completed":
        model.upsert(killed)
    assert_both_read(reference, path, model.sorted())
    # Which a planned clustering leaves alone.
    rows = model.upsert(trips(20, 24, amount=4) if action == "cluster" else trips(4, 7, amount=11))
    reference.write(path, rows, "append", {**kind.reference_options("upsert"), **CONTINUES[action]})
    assert_both_read(reference, path, model.sorted())
    if action != "upsert":
        run_action(HudiTable.open(path), action, [])
    HudiTable.open(path).upsert(model.upsert(trips(0, 2, amount=12)), options=NO_SERVICES)
    assert_both_read(reference, path, model.sorted())
    storage = HudiTable.open(path).storage
    assert timeline_faults(storage) + dangling_references(storage, row_count) == []
    assert HudiTable.open(path).inspect.health().to_pylist() == []
    assert HudiTable.open(path).inspect.verify().to_pylist() == []
