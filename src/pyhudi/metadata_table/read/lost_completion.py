"""A write that is pending though everything but its own file says that it was completed.

The metadata table completes a write just before the timeline does, and the markers are deleted just after. So a write that the
metadata table has, whose data files are there and whose markers are not, was completed: the file that said so is lost. A writer that
died between the two steps left its markers.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.locks.known_objects import as_it_is_now
from pyhudi.metadata_table.format.metadata_partitions import FILES
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.files.marker import marker_folder
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline


def check_no_completion_lost(storage: Storage, config: TableConfig, timeline: Timeline, metadata: Timeline) -> None:
    """Refuse a timeline on which a completed write looks pending; nothing is read unless a pending write is in the metadata table.

    Args:
        storage: the data table's.
        config: its properties.
        timeline: its timeline.
        metadata: the metadata table's timeline.

    Raises:
        CorruptTableError: names the file that is lost.
    """
    known = {one.requested for one in metadata.completed() if one.action is Action.DELTA_COMMIT}
    pending = [one for one in timeline.pending() if one.action.writes_data and one.requested in known]
    for instant in pending:
        if _has_markers(storage, instant) or not _has_files(storage, config, timeline, instant):
            continue
        now = load_timeline(
            as_it_is_now(storage), config
        )  # its writer may have completed it meanwhile, and a rollback deletes markers last
        if now.find(instant.requested) != (instant,) or now.pending(Action.ROLLBACK, Action.RESTORE):
            continue
        form = "" if config.layout == 1 else "_*"
        raise CorruptTableError(
            f"{instant.action} {instant.requested} of table {storage.uri} was completed: its files are there, the metadata table has it and"
            f" its markers are deleted. But the file '{config.timeline_path}/{instant.requested}{form}.{instant.action}' is missing."
            " Restore it from a copy. If there is none and the rows of that write are to be given up,"
            f" table.services.rollback('{instant.requested}') deletes them."
        )


def check_pending_writes(storage: Storage, config: TableConfig, timeline: Timeline) -> None:
    """Refuse the same where the metadata table is not open: before pending writes are rolled back, or left out of changes.

    A metadata table that cannot be read proves nothing.
    """
    if FILES not in config.metadata_partitions or not any(one.action.writes_data for one in timeline.pending()):
        return
    mdt = FolderStorage(storage, FOLDER)
    try:
        metadata = load_timeline(mdt, TableConfig(load_properties(mdt)))
    except (HudiError, FileNotFoundError):
        return
    check_no_completion_lost(storage, config, timeline, metadata)


def _has_markers(storage: Storage, instant: Instant) -> bool:
    folder = marker_folder(instant.requested)
    return bool(storage.list(folder)) or storage.stat(folder) is not None


def _has_files(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> bool:
    partitions = FileSystemView(storage, config, timeline).partition_paths()
    names = (status.name for path in partitions for status in storage.list(path) if not status.is_dir)
    return any(_instant_of(name, config) == instant.requested for name in names)


def _instant_of(name: str, config: TableConfig) -> str | None:
    """Return the instant that wrote a file; None for log files of layout 1, whose names have that of their base file."""
    parsed = parse_base_file_name(name) or (parse_log_file_name(name) if config.layout > 1 else None)
    return None if parsed is None else parsed.instant
