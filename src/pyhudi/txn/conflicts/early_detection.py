"""Early detection of conflicts: before a file is written, the markers of others tell whether one of them is writing to its file group.

Rules: `SimpleDirectMarkerBasedDetectionStrategy`, `AsyncTimelineServerBasedDetectionStrategy`, `MarkerUtils.getAllMarkersForInstant`,
`SimpleTransactionDirectMarkerBasedDetectionStrategy` (with `pyhudi.txn.conflicts.checked_markers`);
docs/format/concurrency.md#early-conflict-detection. Of two writers the one that began later gives up, so that one of them gets through. The
check at the commit decides in any case: whoever detects nothing early is compared there.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import HudiError, OptionError, UnsupportedError, WriteConflictError
from pyhudi.locks.group_locks import GroupLocks, group_locks
from pyhudi.locks.lock_provider import WAIT
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.marker import TEMP_FOLDER
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.concurrency import ConcurrencyMode, concurrency_mode
from pyhudi.txn.heartbeat_settings import HeartbeatSettings, heartbeat_settings
from pyhudi.txn.heartbeats import is_alive
from pyhudi.txn.markers import marked_groups
from pyhudi.txn.write_conflicts import bucket_of_group, completed_since

_log = logging.getLogger(__name__)
ENABLED: Final = "hoodie.write.concurrency.early.conflict.detection.enable"
STRATEGY: Final = "hoodie.write.concurrency.early.conflict.detection.strategy"
_CHECKS_COMMITS: Final = "hoodie.write.concurrency.early.conflict.check.commit.conflict"
_TRANSACTIONAL: Final = "SimpleTransactionDirectMarkerBasedDetectionStrategy"
_SERVED: Final = ("SimpleDirectMarkerBasedDetectionStrategy", "AsyncTimelineServerBasedDetectionStrategy", _TRANSACTIONAL)
_SERVICES: Final = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT})


@dataclass(frozen=True, slots=True)
class EarlyDetection:
    """What the options ask for: the heartbeats by which others count as alive, whether commits since the beginning count as well, and for
    how many seconds each look waits for the lock of its file group, None where it takes none.
    """

    heartbeats: HeartbeatSettings
    checks_commits: bool = False
    lock_wait_s: float | None = None

    def group_locks(self, storage: Storage) -> GroupLocks | None:
        """Return the locks of the file groups of a table, None where none are taken.

        Raises:
            UnsupportedError: the lock provider of the table has none.
        """
        return None if self.lock_wait_s is None else group_locks(storage, self.lock_wait_s, f"{STRATEGY}={_TRANSACTIONAL}")


def early_detection(options: Options) -> EarlyDetection | None:
    """Return what the options ask for, None for no early detection.

    Raises:
        OptionError: the concurrency mode is not optimistic.
        UnsupportedError: the strategy is not served.
    """
    if not options.flag(ENABLED):
        return None
    mode = concurrency_mode(options)
    if mode is not ConcurrencyMode.OPTIMISTIC:
        raise OptionError(f"{ENABLED}=true needs {MODE}={ConcurrencyMode.OPTIMISTIC}, and it is {mode}: writers have no conflicts then.")
    name = options.text(STRATEGY).strip().rpartition(".")[2]
    if name and name not in _SERVED:
        raise UnsupportedError(f"{STRATEGY}: '{name}' is not served: pyhudi loads no classes by name. It can be {' or '.join(_SERVED)}.")
    wait_s = options.integer(WAIT) / 1000 if name == _TRANSACTIONAL else None
    return EarlyDetection(heartbeat_settings(options), options.flag(_CHECKS_COMMITS), wait_s)


@dataclass(frozen=True, slots=True)
class ConflictDetector:
    """Detects conflicts of one write, in its process or in tasks elsewhere: it can be pickled.

    `by_bucket` compares buckets. `before` is the timeline when the write began, where commits since then count, else None.
    """

    config: TableConfig
    instant: str
    detection: EarlyDetection
    clock: Clock
    by_bucket: bool = False
    before: Timeline | None = None

    def check(self, storage: Storage, groups: Collection[FileGroupId]) -> None:
        """Refuse to write to file groups to which others are writing, or have written. What cannot be read is left to the commit.

        Raises:
            WriteConflictError: names the other write and the file group.
        """
        if not groups:
            return
        compared = {self._compared(group): group for group in groups}
        try:
            conflicts = [(other, group) for other, group in self._others(storage, groups) if self._compared(group) in compared]
        except (HudiError, OSError) as error:
            _log.info("no conflicts of %s in table %s are detected early: %s", self.instant, storage.uri, error)
            return
        if conflicts:
            other, group = min(conflicts)
            raise WriteConflictError(
                f"{other} of table {storage.uri} is writing, or has written, to file group {group.file_id} in '{group.partition_path}', as"
                f" {self.instant} was about to. Nothing of {self.instant} is visible: write again when the other is done."
                " hoodie.write.num.retries.on.conflict.failures says how often that is done by itself."
            )

    def _compared(self, group: FileGroupId) -> FileGroupId:
        return bucket_of_group(group) if self.by_bucket else group

    def _others(self, storage: Storage, groups: Collection[FileGroupId]) -> Iterator[tuple[str, FileGroupId]]:
        """Yield the file groups to which others write, of the partitions of some groups, with the requested times of those others."""
        paths = sorted({group.partition_path for group in groups})
        begun = [
            status.name for status in storage.list(TEMP_FOLDER) if status.is_dir and status.name.isdigit() and status.name < self.instant
        ]
        alive = [other for other in begun if is_alive(storage, other, self.clock, self.detection.heartbeats)]
        if not alive and self.before is None:
            return
        timeline = load_timeline(storage, self.config)
        services = {one.requested for one in timeline.pending() if one.action in _SERVICES}
        for other in alive:
            if other not in services:
                for path in paths:
                    yield from ((other, group) for group in marked_groups(storage, other, path))
        if self.before is not None:
            for commit in completed_since(self.before, timeline):
                metadata = load_commit_metadata(storage, self.config, timeline, commit)
                written = (FileGroupId(stat.partition_path or "", stat.file_id) for stat in metadata.all_stats() if stat.file_id)
                yield from ((commit.requested, group) for group in written)
