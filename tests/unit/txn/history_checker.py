"""What a history of a simulated table must show, whatever the schedule.

- Each acknowledged write is committed once, and one that was refused is not committed.
- The commits have an order: that of their completion times is that of their publication, and no time is used twice.
- Each write replaced the newest file of each of its groups: no update is lost.
- Each snapshot is a prefix of that order, and a reader that asks for what is new is handed each commit once.
- Nothing is left of writes that failed, and the newest file of each group is there, the others too unless a clean ran.

A restore takes writes off the timeline: what it names may be missing, and is left out of the snapshots that had it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.instant_details import load_commit_metadata, read_action
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline

if TYPE_CHECKING:
    from tests.unit.txn.simulated_world import World


#: The entry of a commit's metadata that has the files it replaced: the instants by file id.
REPLACED = "_replaced"


def faults_of_history(world: World) -> list[str]:
    """Return what is wrong with the history of a world whose processes have ended."""
    config = TableConfig(load_properties(world.storage))
    timeline = load_full_timeline(world.storage, config).with_archived()
    commits = sorted(timeline.data_instants(), key=lambda one: (one.completed or "", one.requested))
    stated = [load_commit_metadata(world.storage, config, timeline, one) for one in commits]
    undone = _undone(world, config)
    is_cleaned = any(one.action is Action.CLEAN for one in timeline.instants)
    history = [Written.of(instant, metadata) for instant, metadata in zip(commits, stated, strict=True)]
    return [
        *_faults_of_outcomes(world, [one.name for one in history], undone),
        *_faults_of_order(world, commits),
        *lost_updates(history),
        *_faults_of_reads(world, [one.requested for one in commits], undone),
        *timeline_faults(world.storage),
        *garbage(world.storage),
        *(f"file {path} is missing" for path in needed_files(history, is_cleaned=is_cleaned) if not world.storage.stat(path)),
    ]


@dataclass(frozen=True)
class Written:
    """A completed write: its name, the file and the instant of the file before by file id, and the files that it replaced."""

    name: str
    instant: str
    files: Mapping[str, str]
    before: Mapping[str, str]
    replaced: Mapping[str, str]

    @classmethod
    def of(cls, instant: Instant, metadata: CommitMetadata) -> Written:
        """Return what the metadata of a commit say."""
        stats = {stat.file_id or "": stat for stat in metadata.all_stats()}
        return cls(
            metadata.extra_metadata["_write"],
            instant.requested,
            {group: stat.path or "" for group, stat in stats.items()},
            {group: stat.prev_commit or "null" for group, stat in stats.items()},
            json.loads(metadata.extra_metadata.get(REPLACED, "{}")),
        )


def _undone(world: World, config: TableConfig) -> set[str]:
    """Return the instants that restores took off the timeline."""
    timeline = load_timeline(world.storage, config)
    restores = [one for one in timeline.instants if one.action is Action.RESTORE and one.is_completed]
    metadata = [read_action(world.storage, config, one) for one in restores]
    return {instant for one in metadata if isinstance(one, RestoreMetadata) for instant in one.rolled_back}


def needed_files(history: Sequence[Written], *, is_cleaned: bool) -> list[str]:
    """Return the files that must be there: the newest ones, or all where none were cleaned."""
    newest: dict[str, str] = {}
    for one in history:
        newest = {group: path for group, path in newest.items() if group not in one.replaced} | dict(one.files)
    return list(newest.values()) if is_cleaned else [path for one in history for path in one.files.values()]


def _faults_of_outcomes(world: World, names: list[str], undone: set[str]) -> Iterator[str]:
    lost = set(world.acknowledged).difference(names)
    yield from (f"{name} was acknowledged and is lost" for name in lost if world.instants[name] not in undone)
    yield from (f"{name} is committed {count} times" for name, count in Counter(names).items() if count > 1)
    yield from (f"{name} was refused and is committed" for name in world.refused.intersection(names))


def _faults_of_order(world: World, commits: list[Instant]) -> Iterator[str]:
    times = [time for one in commits for time in (one.requested, one.completed)]
    yield from (f"time {time} is used {count} times" for time, count in Counter(times).items() if count > 1)
    published = [name for name in world.published if not name.endswith(".savepoint")]  # has the requested time of what it marks
    position = {name.partition("_")[0]: number for number, name in enumerate(published)}
    order = [position[one.requested] for one in commits]
    if order != sorted(order):
        yield f"commits were published in another order than that of their completion: {world.published}"


def lost_updates(history: Sequence[Written]) -> Iterator[str]:
    """Yield the writes that did not replace the newest file of a group."""
    newest: dict[str, str] = {}
    for one in history:
        for group, before in {**one.before, **one.replaced}.items():
            if before != newest.get(group, "null"):
                yield f"{one.name} ({one.instant}) replaced {before} of {group}, the newest was {newest.get(group)}"
        for group in one.replaced:
            newest.pop(group, None)
        newest |= dict.fromkeys(one.before, one.instant)


def _faults_of_reads(world: World, order: list[str], undone: set[str]) -> Iterator[str]:
    for snapshot in world.snapshots:
        visible = [instant for instant in snapshot if instant not in undone]
        if visible != order[: len(visible)]:
            yield f"a reader saw {snapshot}, which is no prefix of {order}"
    for handed_out in world.handed_out[:1]:
        visible = [instant for instant in handed_out if instant not in undone]
        if visible != order[: len(visible)]:
            yield f"a reader was handed out {handed_out}, the commits are {order}"
