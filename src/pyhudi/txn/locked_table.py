"""The state of a table that a write is planned with: under its writer lock, or without it where nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyhudi.errors import ConflictError
from pyhudi.index.key_encoding import with_key_encoding
from pyhudi.locks.choose_lock import hold_lock
from pyhudi.locks.known_objects import known_while_locked
from pyhudi.locks.provided_storage import ProvidedLock
from pyhudi.metadata_table.lifecycle.prepare_metadata import refuse_unserved
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_writable
from pyhudi.storage.storage_protocol import HeldLock, Storage
from pyhudi.storage.table_properties import load_properties, recover_properties
from pyhudi.timeline.clock import Clock, InstantClock
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.timeline_files import timeline_files
from pyhudi.timeline.write_instant import TimelineWriter
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.conflicts.colliding_plans import remove_colliding_plans
from pyhudi.txn.heartbeat_settings import DEFAULTS, HeartbeatSettings
from pyhudi.txn.ids import Ids
from pyhudi.txn.recreation import is_interrupted, recover_recreation


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as it is now, without its lock: what a write is planned with. `times` gives instant times later than all on the timeline;
    `timeline_files` are the names of the files that the timeline was loaded from.
    """

    storage: Storage
    config: TableConfig
    timeline: Timeline
    timeline_files: frozenset[str]
    clock: Clock
    times: InstantClock
    ids: Ids


@dataclass(frozen=True, slots=True)
class LockedTable(TableState):
    """A table under its writer lock: what an action works with. `heartbeats` says when a writer without the lock counts as dead."""

    lock: HeldLock
    heartbeats: HeartbeatSettings = DEFAULTS

    @property
    def writer(self) -> TimelineWriter:
        """Writes this table's instants."""
        return TimelineWriter(self.storage, self.config, self.lock)

    @property
    def is_locked(self) -> bool:
        """Whether the lock still excludes other writers."""
        return self.lock.is_held()

    def reload(self) -> LockedTable:
        """Return the table with its timeline read again."""
        timeline, files = _load_locked(self.storage, self.config)
        return replace(self, timeline=timeline, timeline_files=files)


def table_state(storage: Storage, clock: Clock, ids: Ids) -> TableState:
    """Return a table that this release can write, as it is now; nothing is locked.

    Raises:
        UnsupportedError: the table has features whose writing is not served.
    """
    config = _writable_config(storage)
    timeline, files = _load(storage, config)
    times = InstantClock(clock, config.timeline_zone, timeline.greatest_time(), storage.uri)
    return TableState(storage, config, timeline, files, clock, times, ids)


@contextlib.contextmanager
def locked_table(
    storage: Storage, wait_s: float, clock: Clock, ids: Ids, *, restores: bool = False, heartbeats: HeartbeatSettings = DEFAULTS
) -> Iterator[LockedTable]:
    """Hold the lock of a table that this release can write; properties and timeline are read under it.

    Args:
        storage: the table's.
        wait_s: how long to wait for the lock, in seconds.
        clock: tells the time.
        ids: gives ids.
        restores: whether the caller brings a pending restore to its end; no other process may write concurrently with one.
        heartbeats: after how long a silence a writer counts as dead.

    Raises:
        LockTimeoutError: another writer held the lock for longer than `wait_s` seconds.
        ConflictError: a restore is pending.
        UnsupportedError: the table has features whose writing is not served.
    """
    with hold_lock(storage, wait_s) as lock, known_while_locked(storage) as known:
        recover_properties(known)
        config = _writable_config(known)
        refuse_unserved(known, config)
        timeline, files = _load_locked(known, config)
        if is_interrupted(config, files) and recover_recreation(known, clock.now()):
            config = _writable_config(known)
            timeline, files = _load_locked(known, config)
        if not restores:
            _check_not_restored(storage, timeline)
        times = InstantClock(clock, config.timeline_zone, timeline.greatest_time(), storage.uri)
        try:
            yield LockedTable(known, config, timeline, files, clock, times, ids, lock, heartbeats)
        finally:
            if isinstance(lock, ProvidedLock):
                times.outlast(lock.clock_skew_s)


def _check_not_restored(storage: Storage, timeline: Timeline) -> None:
    pending = next((one for one in timeline.pending() if one.action is Action.RESTORE), None)
    if pending is not None:
        raise ConflictError(
            f"restore {pending.requested} of table {storage.uri} is under way or was cut off: nothing can be written until it has come to"
            " its end. If the process is dead that ran it, continue with table.services.restore() or 'python -m pyhudi restore', or let"
            " Apache Hudi finish it."
        )


def _writable_config(storage: Storage) -> TableConfig:
    config = with_key_encoding(storage, TableConfig(load_properties(storage)))
    check_writable(config)
    return config


def _load_locked(storage: Storage, config: TableConfig) -> tuple[Timeline, frozenset[str]]:
    timeline, files = _load(storage, config)
    return _load(storage, config) if remove_colliding_plans(storage, config, timeline, files) else (timeline, files)


def _load(storage: Storage, config: TableConfig) -> tuple[Timeline, frozenset[str]]:
    """Load the timeline; its folder is listed once, which takes time on a table of a thousand commits."""
    files = timeline_files(storage, config)
    return load_full_timeline(storage, config, files=files), frozenset(files)
