"""The savepoints of a table, and what each keeps."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.savepoint import SavepointMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True, repr=False)
class Savepoint(ShownResult):
    """A savepoint.

    Attributes:
        instant: the requested time of the commit whose files it keeps.
        user: who made it, as stated; may be empty.
        comment: why, as stated; may be empty.
        created_ms: when, in epoch milliseconds.
        partitions: how many partitions it has files of.
        files: how many base and log files it keeps.
    """

    instant: str
    user: str
    comment: str
    created_ms: int
    partitions: int
    files: int

    def __str__(self) -> str:
        """Say in a line what it is."""
        stated = ", ".join(text for text in (f"by {self.user}" if self.user else "", self.comment) if text)
        files = f"{self.files} file{'' if self.files == 1 else 's'}"
        partitions = f"{self.partitions} partition{'' if self.partitions == 1 else 's'}"
        return f"savepoint {self.instant}: {files} in {partitions}" + (f" ({stated})" if stated else "")


def savepoint_instants(timeline: Timeline) -> tuple[Instant, ...]:
    """Return the completed savepoints, the oldest first."""
    return tuple(one for one in timeline.completed() if one.action is Action.SAVEPOINT)


def savepoints(storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Savepoint, ...]:
    """Return the savepoints of a table, the oldest first.

    Raises:
        CorruptTableError: the file of one is damaged.
    """
    return tuple(savepoint_of(one.requested, _content(storage, config, one)) for one in savepoint_instants(timeline))


def savepoint_of(instant: str, content: SavepointMetadata) -> Savepoint:
    """Return the savepoint of a commit's requested time that has this content."""
    files = sum(map(len, content.files.values()))
    return Savepoint(instant, content.user, content.comments, content.at_ms, len(content.files), files)


def _content(storage: Storage, config: TableConfig, instant: Instant) -> SavepointMetadata:
    content = read_action(storage, config, instant)
    if not isinstance(content, SavepointMetadata):
        raise CorruptTableError(f"savepoint {instant.requested} of table {storage.uri} has no readable content")
    return content
