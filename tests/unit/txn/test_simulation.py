"""Schedules of the simulation lose, double and reorder nothing, and each defect that is put in on purpose is noticed."""

from __future__ import annotations

import os

import pytest

from tests.slow_cases import slow_cases
from tests.unit.txn.simulated_world import Troubles
from tests.unit.txn.simulation import simulate

SERVICES = ("clean", "archive", "savepoint", "rollback")
TROUBLES = {
    "none": (Troubles(), 0),
    "clocks": (Troubles(skew_ms=5_000), 0),
    "failing calls": (Troubles(failing=0.02, skew_ms=5_000), 0),
    "held up": (Troubles(held_up=True), 0),
    "crashes": (Troubles(failing=0.005, skew_ms=5_000), 2),
    "held up, and clocks": (Troubles(held_up=True, skew_ms=5_000), 0),
    "held up, clocks and crashes": (Troubles(failing=0.003, held_up=True, skew_ms=5_000), 2),
    "services": (Troubles(skew_ms=5_000, services=SERVICES), 0),
    "services and crashes": (Troubles(failing=0.005, skew_ms=5_000, services=SERVICES), 2),
    "services, held up": (Troubles(held_up=True, services=SERVICES), 0),
    "restores": (Troubles(services=("restore", "savepoint", "clean", "rollback")), 0),
    "upgrades": (Troubles(failing=0.002, services=("upgrade", "downgrade", "rollback")), 1),
}
#: Of each kind, in `make test-slow`, from this seed on. Each test runs a part of them, so that `-n 2` occupies two cores.
SLOW_SCHEDULES = int(os.environ.get("PYHUDI_SCHEDULES", "2000"))
FIRST_SEED = int(os.environ.get("PYHUDI_FIRST_SEED", "20"))
_IN_ONE_TEST = 1_000


def _parts() -> list[range]:
    seeds = range(FIRST_SEED, FIRST_SEED + SLOW_SCHEDULES)
    return [seeds[first : first + _IN_ONE_TEST] for first in range(0, SLOW_SCHEDULES, _IN_ONE_TEST)]


@pytest.mark.parametrize("seeds", [range(20), *slow_cases(_parts(), _parts())], ids=str)
@pytest.mark.parametrize("kind", TROUBLES)
def test_no_schedule_loses_or_doubles_or_reorders_a_write(kind: str, seeds: range) -> None:
    troubles, crashes = TROUBLES[kind]
    for seed in seeds:
        assert simulate(seed, troubles, crashes=crashes) == [], f"seed {seed}"


#: What went wrong: a writer that others took for dead wrote on, and ended the rollback that they had planned before, so its last file was
#: left; a writer that was held up began at a time that another action had taken meanwhile; the newest completion time was archived, and a
#: clock that was behind gave it again; an upgrade that failed left a table whose last downgrade was not accepted any more; a writer
#: that was held up while others rolled it back wrote on and died, and its last file was left.
HAD_FAULTS = [
    ("held up", 1_000_977),
    ("held up, and clocks", 1_007_084),
    ("services", 1_007_285),
    ("upgrades", 1_007_320),
    ("held up, clocks and crashes", 2_001_742),
]


@pytest.mark.parametrize(("kind", "seed"), HAD_FAULTS)
def test_schedules_that_had_faults_have_none(kind: str, seed: int) -> None:
    troubles, crashes = TROUBLES[kind]
    assert simulate(seed, troubles, crashes=crashes) == []
