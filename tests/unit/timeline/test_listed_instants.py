"""Instants by the names of files: what a further listing adds is the same as if all were read at once."""

from __future__ import annotations

import random

import pytest

from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.listed_instants import list_instants
from pyhudi.timeline.timeline import collapse_states

#: Actions with the one that they complete as.
ACTIONS = [
    (Action.COMMIT, Action.COMMIT),
    (Action.DELTA_COMMIT, Action.DELTA_COMMIT),
    (Action.COMPACTION, Action.COMMIT),
    (Action.LOG_COMPACTION, Action.DELTA_COMMIT),
    (Action.CLUSTERING, Action.REPLACE_COMMIT),
    (Action.CLEAN, Action.CLEAN),
    (Action.SAVEPOINT, Action.SAVEPOINT),
]


def states_of(number: int, action: Action, completes_as: Action) -> list[Instant]:
    time = f"202601010000{number:05d}"
    begun = [Instant(time, action, State.REQUESTED), Instant(time, action, State.INFLIGHT)]
    return [*begun, Instant(time, completes_as, State.COMPLETED, f"202601010001{number:05d}")]


def check(folder: str, instants: set[Instant]) -> None:
    names = dict.fromkeys(sorted(one.file_name(2) for one in instants))
    listed = list_instants(folder, names, 2)
    assert listed is not None
    assert tuple(listed.highest.values()) == collapse_states(sorted(instants, key=lambda one: one.file_name(2)))
    assert list(listed.highest) == sorted(listed.highest)
    assert listed.log_compactions == {one.requested for one in instants if one.action is Action.LOG_COMPACTION}
    assert listed.services == {one.requested for one in instants if one.action in (Action.COMPACTION, Action.CLUSTERING)}


@pytest.mark.parametrize("seed", range(20))
def test_listings_one_after_the_other_are_as_those_that_stand_alone(seed: int) -> None:
    """Writers add states of several instants at a time, in any order of times; archival and rollbacks delete files."""
    chosen, present = random.Random(seed), set[Instant]()
    waiting = [states_of(number, *chosen.choice(ACTIONS)) for number in chosen.sample(range(1000), 60)]
    folder = f"random {seed}"
    while waiting:
        for _ in range(chosen.randrange(4)):
            states = chosen.choice(waiting[:4])
            present.add(states.pop(0))
            waiting = [one for one in waiting if one]
            if not waiting:
                break
        if present and chosen.random() < 0.1:
            present -= set(chosen.sample(sorted(present), 1))
        check(folder, present)


def test_files_that_are_no_instants_are_left_out() -> None:
    check("others", set())
    listed = list_instants("others", {"20260101000000000.commit.requested": None, "hoodie.properties": None, "x.tmp": None}, 2)
    assert listed is not None
    assert [one.state for one in listed.highest.values()] == [State.REQUESTED]


def test_action_that_is_completed_twice_is_left_to_who_reads_its_files() -> None:
    first, second = "20260101000000000_20260101000000001.clean", "20260101000000000_20260101000000002.clean"
    for folder, listings in {"at once": [[first, second]], "one after the other": [[first], [first, second]]}.items():
        *_, last = [list_instants(folder, dict.fromkeys(names), 2) for names in listings]
        assert last is None


def test_of_two_actions_of_one_time_and_state_the_first_by_name_counts() -> None:
    """Whichever was written first: a compaction completes as a commit."""
    later, sooner = "20260101000000000.compaction.requested", "20260101000000000.commit.requested"
    for names in ([later], [sooner, later]):
        listed = list_instants("two", dict.fromkeys(names), 2)
        assert listed is not None
        assert [one.file_name(2) for one in listed.highest.values()] == [names[0]]
