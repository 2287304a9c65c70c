"""How a task creates a marker before it writes a data file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from pyhudi.spec.files.marker import MarkerType, marker_path
from pyhudi.storage.storage_protocol import Storage


class MarkerRoute(Protocol):
    """Creates markers of one write. A route of tasks in other processes pickles."""

    def create(self, storage: Storage, instant: str, data_path: str, kind: MarkerType) -> None:
        """Create a marker; when this returns, it is on storage.

        Args:
            storage: the table's.
            instant: requested time of the write.
            data_path: of the file that follows, relative to the table's base.
            kind: what is done with it.

        Raises:
            AlreadyExistsError: there is such a marker.
            StorageError: it could not be created.
        """
        ...


@dataclass(frozen=True, slots=True)
class DirectMarkers:
    """A marker is an empty file. Rule: `DirectWriteMarkers`."""

    def create(self, storage: Storage, instant: str, data_path: str, kind: MarkerType) -> None:
        """Create the file; see the protocol."""
        storage.create(marker_path(instant, data_path, kind), b"")


DIRECT_MARKERS: Final = DirectMarkers()
