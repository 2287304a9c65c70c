"""File slices with the checksums of their log files, as the commits that wrote them noted them; see `pyhudi.spec.log_checksums`.

From version 8 on a log file belongs to the instant of its name. Before, it is named by its slice, and any later commit may have written it.
Files of commits that noted nothing (Apache Hudi's), or that were archived, have no checksum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyhudi.fsview.committed_sizes import written_by
from pyhudi.spec.files.file_group import FileSlice, LogFile
from pyhudi.spec.instant import Instant
from pyhudi.spec.log_checksums import LogChecksum
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline


def with_checksums(storage: Storage, config: TableConfig, timeline: Timeline, file_slice: FileSlice) -> FileSlice:
    """Return a slice whose log files carry the checksums that are known.

    Raises:
        CorruptTableError: a commit is unreadable.
    """
    if not file_slice.logs:
        return file_slice
    logs = tuple(replace(log, checksum=checksum_of(storage, config, timeline, log)) for log in file_slice.logs)
    return replace(file_slice, logs=logs)


def checksum_of(storage: Storage, config: TableConfig, timeline: Timeline, log: LogFile) -> LogChecksum | None:
    """Return the checksum that a completed commit of the active timeline noted of a log file, of the longest part of it.

    Raises:
        CorruptTableError: a commit is unreadable.
    """
    written = written_by(storage, config, timeline, _writers(timeline, log))
    noted = (one.checksums.get(log.path) for one in written)
    return max((checksum for checksum in noted if checksum is not None), key=lambda checksum: checksum.size, default=None)


def _writers(timeline: Timeline, log: LogFile) -> Iterable[Instant]:
    """Return the completed commits that may have written a log file."""
    if timeline.layout == 1 or log.is_shared:
        return [instant for instant in timeline.data_instants() if instant.requested >= log.name.instant]
    return [instant for instant in timeline.find(log.name.instant) if instant.is_completed and instant.action.writes_data]
