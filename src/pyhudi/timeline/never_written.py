"""Whether a table without a single instant was never written to, or lost its timeline.

Nothing that Apache Hudi or this package does empties a timeline: archival keeps the last commits, a rollback is an instant itself. So files
of a writer and an empty timeline are proof of damage: the timeline's folder is missing, or `hoodie.timeline.path` names another. A new
table need not have that folder (object stores have no empty ones, and copies leave them out), so its absence alone proves nothing.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.file_names import PARTITION_METAFILE, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import parse_instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage

_META_FOLDER = ".hoodie"


def lost_timeline(storage: Storage, config: TableConfig) -> CorruptTableError | None:
    """Return the error for a table whose timeline shows no instant although it was written to; None for a new table."""
    where = f"table {storage.uri} is damaged: its timeline '{config.timeline_path}' shows no instant, but "
    if others := _other_timeline(storage, config):
        return CorruptTableError(
            f"{where}there are instants in '{others}'. Restore {keys.TIMELINE_PATH}, {keys.LAYOUT} and {keys.VERSION} in"
            " .hoodie/hoodie.properties from a backup before you write to it."
        )
    if config.layout != 1 and (names := storage.file_names(config.history_path)):
        return CorruptTableError(f"{where}its archive holds '{config.history_path}/{names[0]}'. {_RESTORE}")
    if (written := _written_file(storage)) is not None:
        return CorruptTableError(f"{where}a writer left '{written}'. {_RESTORE}")
    return None


_RESTORE = "Restore that folder from a backup before you write to the table."


def _other_timeline(storage: Storage, config: TableConfig) -> str | None:
    """Return another folder that holds instants, of either layout: one next to the timeline's, or `.hoodie` itself."""
    concurrent = [status.path for status in storage.list(_META_FOLDER) if status.is_dir]
    for folder in (_META_FOLDER, *concurrent):
        layout = 1 if folder == _META_FOLDER else 2
        if folder != config.timeline_path and any(_is_instant(name, layout) for name in storage.file_names(folder)):
            return folder
    return None


def _is_instant(name: str, layout: int) -> bool:
    try:
        return parse_instant(name, layout) is not None
    except UnsupportedError:
        return False


def _written_file(storage: Storage) -> str | None:
    """Return a file that only a write makes; in a new table one listing tells that there is none."""
    waiting = [""]
    while waiting:
        for status in storage.list(waiting.pop()):
            if status.is_dir:
                waiting += [] if status.path == _META_FOLDER else [status.path]
            elif _is_of_write(status.name):
                return status.path
    return None


def _is_of_write(name: str) -> bool:
    return name.startswith(PARTITION_METAFILE) or parse_base_file_name(name) is not None or parse_log_file_name(name) is not None
