"""What a history of a simulated table must show, whatever the schedule.

- Each acknowledged write is committed once, and one that was refused is not committed.
- The commits have an order: that of their completion times is that of their publication, and no time is used twice.
- Each write replaced the newest file of each of its groups: no update is lost.
- Each snapshot is a prefix of that order, and a reader that asks for what is new is handed each commit once.
- Nothing is left of writes that failed, and each committed file is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline

if TYPE_CHECKING:
    from tests.unit.txn.simulation import World


def faults_of_history(world: World) -> list[str]:
    """Return what is wrong with the history of a world whose processes have ended."""
    config = TableConfig(load_properties(world.storage))
    timeline = load_timeline(world.storage, config)
    commits = sorted(timeline.data_instants(), key=lambda one: (one.completed or "", one.requested))
    stated = [load_commit_metadata(world.storage, config, timeline, one) for one in commits]
    names = [metadata.extra_metadata["_write"] for metadata in stated]
    return [
        *_faults_of_outcomes(world, names),
        *_faults_of_order(world, commits),
        *_lost_updates(commits, [{stat.file_id or "": stat.prev_commit or "" for stat in one.all_stats()} for one in stated], names),
        *_faults_of_reads(world, [one.requested for one in commits]),
        *timeline_faults(world.storage),
        *garbage(world.storage),
        *(f"file {path} is missing" for one in stated for stat in one.all_stats() for path in stat.files if not world.storage.stat(path)),
    ]


def _faults_of_outcomes(world: World, names: list[str]) -> Iterator[str]:
    acknowledged = set(world.acknowledged)
    yield from (f"{name} was acknowledged and is lost" for name in acknowledged.difference(names))
    yield from (f"{name} is committed {count} times" for name, count in Counter(names).items() if count > 1)
    yield from (f"{name} was refused and is committed" for name in world.refused.intersection(names))


def _faults_of_order(world: World, commits: list[Instant]) -> Iterator[str]:
    times = [time for one in commits for time in (one.requested, one.completed)]
    yield from (f"time {time} is used {count} times" for time, count in Counter(times).items() if count > 1)
    position = {name.partition("_")[0]: number for number, name in enumerate(world.published)}
    published = [position[one.requested] for one in commits]
    if published != sorted(published):
        yield f"commits were published in another order than that of their completion: {world.published}"


def _lost_updates(commits: list[Instant], written: list[dict[str, str]], names: list[str]) -> Iterator[str]:
    newest: dict[str, str] = {}
    for instant, groups, name in zip(commits, written, names, strict=True):
        for group, before in groups.items():
            if before != newest.get(group, "null"):
                yield f"{name} ({instant.requested}) replaced {before} of {group}, the newest was {newest.get(group)}"
            newest[group] = instant.requested


def _faults_of_reads(world: World, order: list[str]) -> Iterator[str]:
    for snapshot in world.snapshots:
        if list(snapshot) != order[: len(snapshot)]:
            yield f"a reader saw {snapshot}, which is no prefix of {order}"
    for handed_out in world.handed_out[:1]:
        if handed_out != order[: len(handed_out)]:
            yield f"a reader was handed out {handed_out}, the commits are {order}"
