"""The name of a task's file when the task was begun before: an engine repeats tasks whose worker is lost.

The marker of a file is created once, so it also reserves the name; the next attempt takes the next number in its write token. What
earlier attempts left is deleted when the action completes, because the markers name it and the statistics do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from pyhudi.errors import AlreadyExistsError
from pyhudi.markers.marker_route import DIRECT_MARKERS
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_MOST_ATTEMPTS = 100


class FileTask(Protocol):
    """A task that writes one file, whose name holds its write token `<task>-<stage>-<attempt>`."""

    @property
    def instant(self) -> str:
        """Requested time of the action."""
        ...

    @property
    def write_token(self) -> str:
        """The token."""
        ...

    @property
    def path(self) -> str:
        """Path of the file."""
        ...

    def with_token(self, write_token: str) -> Self:
        """Return the same task with another token."""
        ...


Kind = TypeVar("Kind", bound=FileTask)


def reserve_name(storage: Storage, task: Kind, kind: MarkerType) -> Kind:
    """Create the marker of the task's file, and return the task with the token of the first attempt that nobody made.

    Raises:
        AlreadyExistsError: the task was begun a hundred times.
    """
    number, stage, first = task.write_token.split("-")
    for attempt in range(int(first), int(first) + _MOST_ATTEMPTS):
        tried = task.with_token(f"{number}-{stage}-{attempt}")
        try:
            DIRECT_MARKERS.create(storage, task.instant, tried.path, kind)
        except AlreadyExistsError:
            continue
        return tried
    raise AlreadyExistsError(f"'{task.path}' of table {storage.uri} was begun {_MOST_ATTEMPTS} times already")
