"""What earlier cleans and savepoints of a table say that the next clean must know.

Rules: `CleanPlanner.getPartitionPathsForIncrementalCleaning`, `SavepointActionExecutor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.actions.savepoint import SavepointMetadata
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action, read_bytes
from pyhudi.timeline.timeline import Timeline

#: Entry of the extra metadata of plans and cleans: the savepointed commits whose files were left.
SAVEPOINTED = "savepointed_timestamps"
#: Entry of a clean of some partitions only: the next one must look at all of them.
FILTERED = "pyhudi.clean.partitions"
_CLEANS: LruCache[tuple[str, str, str], CleanMetadata] = LruCache(256)


@dataclass(frozen=True, slots=True)
class Savepoints:
    """The commits that are savepointed, and the names of the files that they retain, by partition path."""

    times: tuple[str, ...] = ()
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)


def completed_cleans(timeline: Timeline) -> tuple[Instant, ...]:
    """Return the cleans of a timeline that are done."""
    return tuple(one for one in timeline.instants if one.action is Action.CLEAN and one.is_completed)


def pending_cleans(timeline: Timeline) -> tuple[Instant, ...]:
    """Return the cleans of a timeline that were planned and are not done, the oldest first."""
    return tuple(one for one in timeline.instants if one.action is Action.CLEAN and not one.is_completed)


def last_clean(storage: Storage, config: TableConfig, timeline: Timeline) -> CleanMetadata | None:
    """Return what the last clean of the active timeline did; None when there is none.

    Raises:
        CorruptTableError: its file is damaged.
    """
    cleans = completed_cleans(timeline)
    return clean_of(storage, config, cleans[-1]) if cleans else None


def clean_of(storage: Storage, config: TableConfig, instant: Instant) -> CleanMetadata:
    """Return what a completed clean did.

    Raises:
        CorruptTableError: its file is damaged; one that is empty was left by a writer that died.
    """
    key = (storage.uri, instant.requested, instant.completed or "")
    known = _CLEANS.get(key)
    if known is not None:
        return known
    done = read_action(storage, config, instant)
    if not isinstance(done, CleanMetadata):
        raise CorruptTableError(f"clean {instant.requested} of table {storage.uri} does not say what it did")
    if instant.completed is not None:  # without that time another table of the same path could have it
        _CLEANS.put(key, done)
    return done


def plan_of_clean(storage: Storage, config: TableConfig, instant: Instant) -> CleanPlan:
    """Return the plan of a clean, from its requested file.

    Raises:
        CorruptTableError: the file is missing, or holds no plan.
    """
    requested = Instant(instant.requested, Action.CLEAN, State.REQUESTED)
    try:
        plan = read_action(storage, config, requested)
    except FileNotFoundError:
        plan = None
    if not isinstance(plan, CleanPlan):
        raise CorruptTableError(f"clean {instant.requested} of table {storage.uri} is pending and has no readable plan")
    return plan


def is_empty_file(storage: Storage, config: TableConfig, instant: Instant) -> bool:
    """Tell whether the file of an instant is empty or missing."""
    try:
        return not read_bytes(storage, config, instant)
    except FileNotFoundError:
        return True


def savepointed_by(extra_metadata: Mapping[str, str] | None) -> frozenset[str]:
    """Return the savepointed commits that the extra metadata of a plan or clean name."""
    return frozenset(time for time in (extra_metadata or {}).get(SAVEPOINTED, "").split(",") if time)


def savepoints_of(storage: Storage, config: TableConfig, timeline: Timeline) -> Savepoints:
    """Return the savepoints of a table with the files that they retain.

    Raises:
        CorruptTableError: a savepoint is unreadable: what it retains must not be deleted.
    """
    times: list[str] = []
    files: dict[str, frozenset[str]] = {}
    for instant in timeline.instants:
        if instant.action is not Action.SAVEPOINT or not instant.is_completed:
            continue
        retained = read_action(storage, config, instant)
        if not isinstance(retained, SavepointMetadata):
            raise CorruptTableError(f"savepoint {instant.requested} of table {storage.uri} does not say which files it retains")
        times.append(instant.requested)
        for path, names in retained.files.items():
            files[path] = files.get(path, frozenset()) | {name.rpartition("/")[2] for name in names}
    return Savepoints(tuple(times), files)
