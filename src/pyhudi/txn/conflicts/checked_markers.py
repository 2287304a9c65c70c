"""Markers that are created under the lock of their file group, right after a look at the markers of others.

Rule: `SimpleTransactionDirectMarkerBasedDetectionStrategy`; docs/design/0151-early-detection.md. A writer that looks while another one is
between its look and its marker waits for that marker.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.locks.group_locks import GroupLocks
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.spec.files.marker import MarkerType
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.conflicts.early_detection import ConflictDetector
from pyhudi.txn.markers import group_of_path


@dataclass(frozen=True, slots=True)
class CheckedMarkers:
    """Creates markers by `route`, of which `detector` approves while the file group is locked. It pickles if the route does."""

    route: MarkerRoute
    detector: ConflictDetector
    locks: GroupLocks

    def create(self, storage: Storage, instant: str, data_path: str, kind: MarkerType) -> None:
        """Create a marker; see `MarkerRoute`.

        Raises:
            WriteConflictError: another writer that began earlier has a marker of the file group.
            LockTimeoutError: others held the lock of the file group for too long.
        """
        group = group_of_path(data_path)
        with self.locks.hold(storage, group):
            self.detector.check(storage, [group])
            self.route.create(storage, instant, data_path, kind)


def checked_markers(markers: MarkerRoute, detector: ConflictDetector | None, storage: Storage) -> MarkerRoute:
    """Return the markers of a write, which are checked where its strategy locks file groups.

    Raises:
        UnsupportedError: the lock provider of the table has no such locks.
    """
    locks = None if detector is None else detector.detection.group_locks(storage)
    return markers if detector is None or locks is None else CheckedMarkers(markers, detector, locks)
