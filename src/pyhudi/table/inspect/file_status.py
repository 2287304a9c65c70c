"""What became of one file of a table. Rules: `ShowFileStatusProcedure`; archived restores are looked at too."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyhudi.errors import UsageError
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_action_metadata
from pyhudi.timeline.timeline import Timeline

#: In the order in which they are asked.
_DELETING = (Action.CLEAN, Action.ROLLBACK, Action.RESTORE)


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What became of a file.

    Attributes:
        status: `exist`, `deleted`, or `unknown`.
        action: which kind of action deleted it; empty when none did.
        instant: the requested time of that action.
        timeline: `active` or `archived`, where that action is; `active` for a file that exists; empty when unknown.
        full_path: of a file that exists.
    """

    status: str
    action: str = ""
    instant: str = ""
    timeline: str = ""
    full_path: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes by name, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        """Say in a line what became of it."""
        if self.status == "deleted":
            return f"deleted by {self.action} {self.instant} ({self.timeline} timeline)"
        return f"exists: {self.full_path}" if self.full_path else self.status


def file_status(storage: Storage, config: TableConfig, timeline: Timeline, name: str, partition: str | None) -> FileHistory:
    """Return what became of a file; `timeline` knows the archive. See `Inspect.file_status`."""
    if partition is None and config.partition_fields:
        raise UsageError(f"table {storage.uri} has partitions: say in which one file '{name}' is")
    everything = timeline.with_archived()
    active = {(one.requested, one.action) for one in timeline.instants}
    for action in _DELETING:
        for instant in reversed(everything.instants):
            if instant.action is action and instant.is_completed and _deletes(storage, config, everything, instant, partition, name):
                where = "active" if (instant.requested, instant.action) in active else "archived"
                return FileHistory("deleted", instant.action.value, instant.requested, where)
    path = join_path((partition or "").strip("/"), name)
    if storage.stat(path) is not None:
        return FileHistory("exist", timeline="active", full_path=f"{storage.uri}/{path}")
    return FileHistory("unknown")


def _deletes(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant, partition: str | None, name: str) -> bool:
    content = load_action_metadata(storage, config, timeline, instant)
    partition_path = (partition or "").strip("/")
    return any(path == partition_path and name in {file.rpartition("/")[2] for file in files} for path, files in _deleted(content))


def _deleted(content: object) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files that an action deleted, by partition path."""
    if isinstance(content, CleanMetadata):
        yield from ((path, cleaned.deleted) for path, cleaned in content.partitions.items())
    elif isinstance(content, RollbackMetadata):
        yield from ((path, rolled_back.deleted) for path, rolled_back in content.partitions.items())
    elif isinstance(content, RestoreMetadata):
        for rollbacks in content.rollbacks.values():
            for rollback in rollbacks:
                yield from _deleted(rollback)
