"""The files in `.hoodie/.schema` that hold all versions of a table's schema, one file for each commit that stored them.

Rules: `FileBasedInternalSchemaStorageManager`. They are instants of the action `schemacommit` with their commit's time, and count when
that commit completed. The newest has everything; what commits that failed left behind is deleted by the next.
"""

from __future__ import annotations

from typing import Final

from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

FOLDER: Final = ".hoodie/.schema"
_ACTION: Final = "schemacommit"


def read_schema_file(storage: Storage, timeline: Timeline) -> str | None:
    """Return the content of the newest file whose commit is completed; None when there is none."""
    names = (name for name in storage.file_names(FOLDER) if name.endswith(f".{_ACTION}"))
    counting = [name for name in names if timeline.is_committed(_time(name))]
    return storage.read(f"{FOLDER}/{counting[-1]}").decode() if counting else None


def store_schema_file(storage: Storage, config: TableConfig, timeline: Timeline, instant: str, completed: str, content: str) -> None:
    """Store all versions for a commit that is about to complete; the caller holds the table's lock.

    Args:
        storage: the table's storage.
        config: its configuration.
        timeline: its timeline; files of commits that are not completed there are deleted.
        instant: requested time of the commit.
        completed: completion time of the file, which layout 2 has in its name.
        content: the versions.
    """
    for file in storage.list(FOLDER):
        if not file.is_dir and not timeline.is_committed(_time(file.name)):
            storage.delete(file.path)
    done = f"{instant}.{_ACTION}" if config.layout == 1 else f"{instant}_{completed}.{_ACTION}"
    storage.create(f"{FOLDER}/{instant}.{_ACTION}.requested", b"")
    storage.create(f"{FOLDER}/{instant}.{_ACTION}.inflight", b"")
    storage.create(f"{FOLDER}/{done}", content.encode())


def _time(name: str) -> str:
    return name.partition(".")[0].partition("_")[0]
