"""What the history of a soak must show.

- Each acknowledged change is committed once, none that was refused is, and each state is the replay of the commits up to it.
- Commits are ordered as their callers saw them: what was acknowledged before another began is completed before it.
- Each snapshot equals the replay of a prefix of the commits: of all that were acknowledged before the read began, and of none that had not
  begun when it ended. A reader's snapshots do not go back.
- What a reader was handed out as new are the records whose last change is among the new commits, once each.

A delete sees the table as it was when it began. A key that was absent then, and that another change inserts meanwhile, stays: for that key
the delete comes first in the order, although it completes later. The replay follows it only if the delete's own commit has no file in the
partition of the key, the key was absent in a state that the delete may have seen, and no later state differs in another key of the
delete.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyhudi.errors import UsageError
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.processes.workload import Change, Rows, first_change

Event = Mapping[str, Any]
Row = tuple[int, str, int]


def read_events(folder: Path) -> list[Event]:
    """Return the events of all logs by time; the last line of a killed process may be cut off."""
    events = []
    for path in folder.glob("*.log"):
        for line in path.read_text().splitlines():
            try:
                events.append({**json.loads(line), "who": path.stem})
            except json.JSONDecodeError:
                continue
    return sorted(events, key=lambda event: float(event["at"]))


@dataclass(frozen=True)
class Commit:
    """A completed commit, the name of the write that made it, if a writer did, and the partitions that it has files in, if known."""

    name: str
    completed: str
    partitions: frozenset[str] | None = None


@dataclass(frozen=True)
class Replay:
    """The commits in the order of their completion, the rows after each, and the number of the commit that last changed each record."""

    commits: Sequence[Commit]
    states: Sequence[dict[int, tuple[str, int]]]
    changed: Sequence[dict[int, int]]

    def rows(self, number: int) -> list[Row]:
        """Return the rows after so many commits."""
        return sorted((key, *row) for key, row in self.states[number].items())

    def rows_between(self, since: str | None, until: str) -> list[Row]:
        """Return the rows at `until` whose last change is of a commit that completed after `since`."""
        end = sum(one.completed <= until for one in self.commits)
        first = sum(one.completed <= since for one in self.commits) if since else 0
        return sorted((key, *row) for key, row in self.states[end].items() if self.changed[end][key] > first)


def commits_of(table: HudiTable) -> list[Commit]:
    """Return all commits of a table, archived ones too, in the order of their completion."""
    timeline = load_full_timeline(table.storage, table.config).with_archived()
    metadata = [(one, load_commit_metadata(table.storage, table.config, timeline, one)) for one in timeline.data_instants()]
    commits = [Commit(stated.extra_metadata.get("_write", ""), one.completed or "", frozenset(stated.stats)) for one, stated in metadata]
    return sorted(commits, key=lambda commit: commit.completed)


def replay_of(commits: Sequence[Commit], changes: Mapping[str, Change], first_states: Mapping[str, int] | None = None) -> Replay:
    """Replay the named commits; others rewrite files and change no row.

    `first_states` has the number of commits that each write saw at least, by its name; others saw all that completed before them.
    """
    states: list[dict[int, tuple[str, int]]] = [{}]
    changed: list[dict[int, int]] = [{}]
    for number, commit in enumerate(commits, 1):
        change = changes.get(commit.name)
        if change is not None and change.kind == "delete":
            change = _without_unseen(change, commit, states[min((first_states or {}).get(commit.name, number), number - 1) :])
        before, after = states[-1], states[-1] if change is None else change.apply(states[-1])
        named = set() if change is None else {row[0] for row in change.rows}
        touched = {key for key in after if key in named or before.get(key) != after[key]}
        states.append(after)
        changed.append({key: number if key in touched else changed[-1][key] for key in after})
    return Replay(commits, states, changed)


def _without_unseen(delete: Change, commit: Commit, possible: Sequence[Rows]) -> Change:
    """Return a delete without the keys that it did not see; `possible` are those that it may have seen."""
    unseen = [row for row in delete.rows if row[0] in possible[-1] and commit.partitions is not None and row[1] not in commit.partitions]
    others = [row[0] for row in delete.rows if row not in unseen]
    for state in reversed(possible) if unseen else ():
        if any(state.get(key) != possible[-1].get(key) for key in others):
            break
        if not any(row[0] in state for row in unseen):
            return replace(delete, rows=tuple(row for row in delete.rows if row not in unseen))
    return delete


def least_visible(commits: Sequence[Commit], events: Sequence[Event]) -> dict[str, int]:
    """Return the number of the latest commit that was acknowledged before each write began."""
    position = _positions(commits)
    numbers, latest = dict[str, int](), 1
    for event in events:
        if event["kind"] == "begin":
            numbers[event["name"]] = latest
        elif event["kind"] == "done":
            latest = max(latest, position.get(event["name"], 0))
    return numbers


def faults_of_history(table: HudiTable, events: Sequence[Event]) -> list[str]:
    """Return what is wrong with the events of a soak and the table that it left."""
    return [*faults_of_events(commits_of(table), events), *faults_of_states(table, replay_of_events(commits_of(table), events))]


def replay_of_events(commits: Sequence[Commit], events: Sequence[Event]) -> Replay:
    """Replay the commits of the writes whose beginnings are among the events."""
    changes = {event["name"]: Change.from_json(event["change"]) for event in events if event["kind"] == "begin"}
    return replay_of(commits, {**changes, "first": first_change()}, least_visible(commits, events))


def faults_of_events(commits: Sequence[Commit], events: Sequence[Event]) -> list[str]:
    """Return what is wrong with the events of a soak that left these commits."""
    replay = replay_of_events(commits, events)
    return [
        *(f"{event['who']}: {event['error']}" for event in events if event["kind"] == "failed"),
        *_faults_of_outcomes(replay, events),
        *_faults_of_order(replay, events),
        *_faults_of_snapshots(replay, events),
        *_faults_of_changes(replay, events),
    ]


def _faults_of_outcomes(replay: Replay, events: Sequence[Event]) -> Iterator[str]:
    committed = Counter(commit.name for commit in replay.commits if commit.name)
    yield from (f"{name} is committed {count} times" for name, count in committed.items() if count > 1)
    for event in events:
        if event["kind"] == "done" and (event["instant"] is not None) != (event["name"] in committed):
            yield f"{event['name']} was acknowledged with instant {event['instant']}, and is committed {committed[event['name']]} times"
        if event["kind"] == "refused" and event["name"] in committed:
            yield f"{event['name']} was refused and is committed: {event['error']}"


def _faults_of_order(replay: Replay, events: Sequence[Event]) -> Iterator[str]:
    position = _positions(replay.commits)
    latest, name_of_latest = 0, ""
    for event in events:
        number = position.get(event.get("name", ""), 0)
        if event["kind"] == "done" and number > latest:
            latest, name_of_latest = number, event["name"]
        # a change that began after another was acknowledged, and was completed before it
        if event["kind"] == "begin" and number and number < latest:
            yield f"{event['name']} began after {name_of_latest} was acknowledged, and is completed before it"


def faults_of_states(table: HudiTable, replay: Replay) -> Iterator[str]:
    """Yield the states, as of each commit and now, that differ from the replay; those that were cleaned are left out."""
    for number, commit in enumerate(replay.commits, 1):
        try:
            rows = table.to_arrow(["id", "city", "value"], as_of=commit.completed).to_pylist()
        except UsageError:  # cleaned
            continue
        yield from _difference(f"as of {commit.completed} ({commit.name})", [tuple(row.values()) for row in rows], replay.rows(number))
    last = [tuple(row.values()) for row in table.to_arrow(["id", "city", "value"]).to_pylist()]
    yield from _difference("in the end", last, replay.rows(len(replay.commits)))


def _faults_of_snapshots(replay: Replay, events: Sequence[Event]) -> Iterator[str]:
    position = _positions(replay.commits)
    numbers: dict[tuple[Row, ...], list[int]] = {}
    for number in range(len(replay.states)):
        numbers.setdefault(tuple(replay.rows(number)), []).append(number)
    acknowledged = [(event["at"], position[event["name"]]) for event in events if event["kind"] == "done" and event["name"] in position]
    begun = [(event["at"], position[event["name"]]) for event in events if event["kind"] == "begin" and event["name"] in position]
    reached: dict[tuple[str, int], int] = {}
    for event in events:
        if event["kind"] != "snapshot":
            continue
        reader = (event["who"], event["pid"])
        least = max([1, reached.get(reader, 0), *(number for at, number in acknowledged if at <= event["begun"])])
        not_yet = min((number for at, number in begun if at > event["at"]), default=len(replay.states))
        fitting = numbers.get(tuple(sorted(tuple(row) for row in event["rows"])), [])
        possible = [number for number in fitting if least <= number < not_yet]
        if not possible:
            yield f"{event['who']} saw at {event['at']} rows of the states {fitting[:5]}, not of {least} to {not_yet - 1}: {event['rows']}"
        reached[reader] = min(possible, default=least)


def _faults_of_changes(replay: Replay, events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event["kind"] == "changes":
            expected = replay.rows_between(event["since"], event["until"])
            yield from _difference(
                f"{event['who']} from {event['since']} to {event['until']}", [tuple(row) for row in event["rows"]], expected
            )


def _positions(commits: Sequence[Commit]) -> dict[str, int]:
    return {commit.name: number for number, commit in enumerate(commits, 1) if commit.name}


def _difference(what: str, rows: Sequence[tuple[Any, ...]], expected: Sequence[Row]) -> Iterator[str]:
    actual, due = Counter(rows), Counter(expected)
    if actual != due:
        yield f"{what}: too many are {sorted((actual - due).elements())[:6]}, missing are {sorted((due - actual).elements())[:6]}"
