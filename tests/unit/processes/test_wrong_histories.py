"""Each legal history passes the checker of soaks, and each that is corrupted in one way does not."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.processes.history import Commit, Event, Row, faults_of_events, faults_of_states, replay_of_events
from tests.unit.processes.workload import SCHEMA, Change, Rows, first_change, next_change

#: Of each kind of corruption, in each build and in `make test-slow`.
HISTORIES, SLOW_HISTORIES = 10, int(os.environ.get("PYHUDI_HISTORIES", "1000"))
WRITERS = 3


@dataclass(frozen=True)
class History:
    """Commits and events, the rows after each number of commits, and which numbers of commits each snapshot may show."""

    commits: tuple[Commit, ...]
    events: tuple[Event, ...]
    states: tuple[dict[int, tuple[str, int]], ...]
    possible: dict[float, range]

    def rows(self, number: int) -> list[Row]:
        return rows_of(self.states[number])

    def numbers(self, kind: str) -> list[int]:
        """Return the positions of the events of a kind."""
        return [number for number, event in enumerate(self.events) if event["kind"] == kind]

    def visible(self, number: int) -> range:
        """Return the numbers of commits that the reader of a snapshot may have seen, as far as processes know when a commit completes."""
        begun = {event["name"] for event in self.events[:number] if event["kind"] == "begin"}
        later = (one for one, commit in enumerate(self.commits, 1) if commit.name not in begun | {"first"})
        return range(self.possible[self.events[number]["at"]].start, min(later, default=len(self.states)))

    def with_event(self, number: int, event: Event) -> History:
        return replace(self, events=(*self.events[:number], event, *self.events[number + 1 :]))


def rows_of(state: Rows) -> list[Row]:
    return sorted((key, *row) for key, row in state.items())


class Generator:
    """Makes a legal history: writes overlap in time, complete in some order, and see what had completed when they began."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.events: list[dict[str, Any]] = []
        self.commits = [Commit("first", "1000")]
        self.states: list[dict[int, tuple[str, int]]] = [{}, first_change().apply({})]
        self.last_change = [{}, dict.fromkeys(self.states[1], 1)]
        self.running: dict[int, tuple[str, Change, int]] = {}
        self.unacknowledged: dict[int, str] = {}
        self.possible: dict[float, range] = {}
        self.acknowledged = 1
        self.count = 0

    def run(self) -> History:
        steps = [self._begin, self._begin, self._complete, self._complete, self._acknowledge, self._acknowledge, self._read, self._changes]
        for _ in range(120):
            self.chance.choice(steps)()
        for _ in range(WRITERS):
            self._complete()
            self._acknowledge()
        self._read()
        return History(tuple(self.commits), tuple(self.events), tuple(self.states), self.possible)

    def _note(self, who: str, kind: str, **values: Any) -> float:
        at = float(len(self.events))
        self.events.append({"kind": kind, "at": at, "pid": 1, "who": who, **values})
        return at

    def _begin(self) -> None:
        free = [number for number in range(WRITERS) if number not in self.running and number not in self.unacknowledged]
        if free:
            number, self.count = self.chance.choice(free), self.count + 1
            name = f"writer{number}-{self.count}"
            change = next_change(self.chance, number, self.count)
            self.running[number] = (name, change, len(self.commits))
            self._note(f"writer{number}", "begin", name=name, change=change.to_json())

    def _complete(self) -> None:
        if not self.running:
            return
        number = self.chance.choice(sorted(self.running))
        name, change, base = self.running.pop(number)
        named = {row[0] for row in change.rows}
        is_conflicting = any(
            self.last_change[-1].get(key, 0) > base for key in named if key in self.states[base] and key in self.states[-1]
        )
        is_conflicting |= change.kind != "delete" and any(self.states[base].get(key) != self.states[-1].get(key) for key in named)
        if is_conflicting or self.chance.random() < 0.05:
            self._note(f"writer{number}", "refused", name=name, error="ConflictError")
            return
        deleted = tuple(row for row in change.rows if row[0] in self.states[base])
        change = replace(change, rows=deleted) if change.kind == "delete" else change
        touched = {row[1] for row in change.rows} | {change.partition} - {""}
        if change.kind == "delete" and not deleted:
            self._note(f"writer{number}", "done", name=name, instant=None)
            return
        before, after = self.states[-1], change.apply(self.states[-1])
        self.commits.append(Commit(name, str(1000 + len(self.commits)), frozenset(touched)))
        self.states.append(after)
        changed = {row[0] for row in change.rows} | {key for key in after if before.get(key) != after[key]}
        latest = {
            key: len(self.commits) if key in changed else at for key, at in {**dict.fromkeys(after, 0), **self.last_change[-1]}.items()
        }
        self.last_change.append(latest)
        self.unacknowledged[number] = name

    def _acknowledge(self) -> None:
        if self.unacknowledged:
            number = self.chance.choice(sorted(self.unacknowledged))
            name = self.unacknowledged.pop(number)
            position = [commit.name for commit in self.commits].index(name) + 1
            self.acknowledged = max(self.acknowledged, position)
            self._note(f"writer{number}", "done", name=name, instant=str(position))

    def _read(self) -> None:
        begun, number = float(len(self.events)) - 0.5, len(self.commits)
        at = self._note("reader1", "snapshot", begun=begun, rows=[list(row) for row in rows_of(self.states[number])])
        before = [least.stop - 1 for least in self.possible.values()]
        self.possible[at] = range(max([self.acknowledged, *before[-1:]]), number + 1)

    def _changes(self) -> None:
        first, last = sorted(self.chance.sample(range(1, len(self.commits) + 1), 2)) if len(self.commits) > 1 else (1, 1)
        rows = [row for row in rows_of(self.states[last]) if self.last_change[last].get(row[0], 0) > first]
        since, until = self.commits[first - 1].completed, self.commits[last - 1].completed
        self._note("reader2", "changes", since=since, until=until, rows=[list(row) for row in rows])


class AlteredTable:
    """A table as of each commit: what a reader of it is given."""

    def __init__(self, history: History, altered: dict[int, Sequence[Row]]) -> None:
        self._history, self._altered = history, altered

    def to_arrow(self, columns: Sequence[str], as_of: str | None = None) -> pa.Table:
        del columns
        commits = self._history.commits
        number = len(commits) if as_of is None else [commit.completed for commit in commits].index(as_of) + 1
        rows = self._altered.get(number, self._history.rows(number))
        return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def faults(history: History, altered: dict[int, Sequence[Row]] | None = None) -> list[str]:
    table: Any = AlteredTable(history, altered or {})
    replay = replay_of_events(history.commits, history.events)
    return [*faults_of_events(history.commits, history.events), *faults_of_states(table, replay)]


def corrupted_rows(how: str, rows: Sequence[Row], history: History, number: int, chance: random.Random) -> list[Row] | None:
    """Return rows with one of them lost, doubled, as it was before, or there again after its delete; None where there is none such."""
    earlier = {row for state in history.states[:number] for row in rows_of(state)} - set(rows)
    keys = {row[0] for row in rows}
    revived = sorted(row for row in earlier if row[0] not in keys)
    stale = sorted(row for row in earlier if row[0] in keys)
    match how:
        case "lost" if rows:
            dropped = chance.choice(rows)
            return [row for row in rows if row != dropped]
        case "doubled" if rows:
            return [*rows, chance.choice(rows)]
        case "revived" if revived:
            return [*rows, chance.choice(revived)]
        case "stale" if stale:
            old = chance.choice(stale)
            return [old if row[0] == old[0] else row for row in rows]
    return None


def in_snapshot(how: str, history: History, chance: random.Random) -> list[str] | None:
    number = chance.choice(history.numbers("snapshot"))
    event = history.events[number]
    latest = history.possible[event["at"]].stop - 1
    rows = corrupted_rows(how, [tuple(row) for row in event["rows"]], history, latest, chance)
    if rows is None or any(sorted(rows) == history.rows(one) for one in history.visible(number)):
        return None  # this is a snapshot that the reader may have been given
    return faults(history.with_event(number, {**event, "rows": [list(row) for row in rows]}))


def in_changes(how: str, history: History, chance: random.Random) -> list[str] | None:
    numbers = history.numbers("changes")
    if not numbers:
        return None
    event = history.events[number := chance.choice(numbers)]
    rows = corrupted_rows(how, [tuple(row) for row in event["rows"]], history, int(event["until"]) - 999, chance)
    return None if rows is None else faults(history.with_event(number, {**event, "rows": [list(row) for row in rows]}))


def in_state(how: str, history: History, chance: random.Random) -> list[str] | None:
    number = chance.randrange(1, len(history.states))
    rows = corrupted_rows(how, history.rows(number), history, number, chance)
    return None if rows is None else faults(history, {number: rows})


def in_commits(how: str, history: History, chance: random.Random) -> list[str] | None:
    """A commit that is lost, there twice, or completed before one that was acknowledged when it began."""
    commits = list(history.commits)
    acknowledged = [event["name"] for event in history.events if event["kind"] == "done" and event["instant"]]
    if not acknowledged:
        return None
    name = chance.choice(acknowledged)
    position = [commit.name for commit in commits].index(name)
    if how == "lost":
        del commits[position]
    elif how == "doubled":
        commits.append(replace(commits[position], completed=str(1000 + len(commits))))
    elif how == "refused":
        done = next(number for number, event in enumerate(history.events) if event["kind"] == "done" and event["name"] == name)
        return faults(history.with_event(done, {**history.events[done], "kind": "refused", "error": "ConflictError"}))
    else:
        ended = next(event["at"] for event in history.events if event["kind"] == "done" and event["name"] == name)
        began = {event["name"]: event["at"] for event in history.events if event["kind"] == "begin"}
        later = [number for number, commit in enumerate(commits) if began.get(commit.name, 0) > ended]
        if not later:
            return None
        other = chance.choice(later)
        first, second = commits[position], commits[other]
        commits[position], commits[other] = replace(second, completed=first.completed), replace(first, completed=second.completed)
    return faults_of_events(commits, history.events)


def reader_goes_back(how: str, history: History, chance: random.Random) -> list[str] | None:
    """A snapshot that a reader is given after a later one, or one of writes that begin only after the read."""
    snapshots = history.numbers("snapshot")
    number = chance.choice(snapshots)
    event = history.events[number]
    possible = history.visible(number)
    outside = range(1, possible.start) if how == "reordered" else range(possible.stop, len(history.states))
    wrong = [one for one in outside if all(history.rows(one) != history.rows(legal) for legal in possible)]
    if not wrong:
        return None
    rows = [list(row) for row in history.rows(chance.choice(wrong))]
    return faults(history.with_event(number, {**event, "rows": rows}))


Corruption = Callable[[str, History, random.Random], "list[str] | None"]
CORRUPTIONS: list[tuple[Corruption, str]] = [
    *((where, how) for where in (in_snapshot, in_changes, in_state) for how in ("lost", "doubled", "revived", "stale")),
    *((in_commits, how) for how in ("lost", "doubled", "refused", "reordered")),
    (reader_goes_back, "reordered"),
    (reader_goes_back, "too early"),
]


@pytest.mark.parametrize("seeds", [range(50), pytest.param(range(50, 50 + SLOW_HISTORIES), marks=pytest.mark.slow)], ids=["some", "many"])
def test_legal_histories_have_no_faults(seeds: range) -> None:
    for seed in seeds:
        assert faults(Generator(seed).run()) == [], f"seed {seed}"


@pytest.mark.parametrize("count", [HISTORIES, pytest.param(SLOW_HISTORIES, marks=pytest.mark.slow)], ids=["some", "many"])
@pytest.mark.parametrize(("where", "how"), CORRUPTIONS, ids=lambda value: getattr(value, "__name__", value))
def test_each_corruption_is_noticed(where: Corruption, how: str, count: int) -> None:
    corrupted, seed = 0, 0
    while corrupted < count:
        seed += 1
        assert seed < 20 * count, "hardly a history can be corrupted like this"
        noticed = where(how, Generator(seed).run(), random.Random(seed))
        assert noticed != [], f"seed {seed}"
        corrupted += noticed is not None
