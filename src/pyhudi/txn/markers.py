"""Markers: the names of data files that a write was about to make, so that nothing it leaves behind is lost sight of.

Rules: `DirectWriteMarkers`, `TimelineServerBasedWriteMarkers`; docs/format/concurrency.md#markers. Markers of both kinds are read, also
where both are in one folder, as a service leaves them that one program began and another one continued; `pyhudi.markers` writes them.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Collection, Iterable, Iterator

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.spec.files.file_group import FileGroupId, join_path
from pyhudi.spec.files.file_names import BaseFileName, LogFileName, parse_base_file_name, parse_log_file_name
from pyhudi.spec.files.marker import BATCH_FILE, TEMP_FOLDER, TYPE_FILE, Marker, MarkerType, marker_folder, parse_marker
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.storage.temporary_files import is_left_over

_log = logging.getLogger(__name__)
_MAX_BATCH_BYTES = 256 << 20
_JOINED = re.compile(r"(\.marker\.(?:CREATE|MERGE|APPEND)),(?=[^\n])")


def marked_files(storage: Storage, instant: str) -> frozenset[str] | None:
    """Return the paths of the data files that an instant made, as its markers name them; None when there is no folder of
    markers.

    Raises:
        CorruptTableError: an entry is not the name of a marker.
    """
    markers = list_markers(storage, instant)
    return None if markers is None else frozenset(marker.data_path for marker in markers if marker.type is not MarkerType.APPEND)


def marked_appends(storage: Storage, instant: str) -> frozenset[str]:
    """Return the paths that an instant of version 6 appended to, as its markers name them: log files, in Hudi 0.x the
    base files below.

    Raises:
        CorruptTableError: an entry is not the name of a marker.
    """
    return frozenset(marker.data_path for marker in list_markers(storage, instant) or () if marker.type is MarkerType.APPEND)


def marked_groups(storage: Storage, instant: str, partition_path: str) -> frozenset[FileGroupId]:
    """Return the file groups of a partition to which an instant writes, as its markers name them, of whatever kind they are.

    Names that are none of data files are left out: another writer may be making or deleting them just now.
    """
    folder = marker_folder(instant)
    direct = storage.list(join_path(folder, partition_path))
    batched = storage.list(folder) if partition_path else direct
    names = itertools.chain((status.path.removeprefix(f"{folder}/") for status in direct if not status.is_dir), _batched(storage, batched))
    paths = (marker.data_path for marker in map(parse_marker, names) if marker is not None)
    return frozenset(
        FileGroupId(partition_path, name.file_id) for path in paths if (name := _data_file_name(path, partition_path)) is not None
    )


def group_of_path(path: str) -> FileGroupId:
    """Return the file group of the data file at a path."""
    folder = path.rpartition("/")[0]
    name = _data_file_name(path, folder)
    assert name is not None
    return FileGroupId(folder, name.file_id)


def _data_file_name(path: str, partition_path: str) -> BaseFileName | LogFileName | None:
    folder, _, name = path.rpartition("/")
    return (parse_base_file_name(name) or parse_log_file_name(name)) if folder == partition_path else None


def list_markers(storage: Storage, instant: str) -> list[Marker] | None:
    """Return the markers of an instant, whatever their kind; None when there is no folder of markers.

    Raises:
        CorruptTableError: an entry is not the name of a marker.
    """
    folder = marker_folder(instant)
    listing = storage.list(folder)
    if not listing and storage.stat(folder) is None:
        return None
    others = [status for status in listing if BATCH_FILE.fullmatch(status.name) is None and status.name != TYPE_FILE]
    paths = (path.removeprefix(f"{folder}/") for path in _files_below(storage, others))
    return [_marker(name, instant) for name in itertools.chain(_batched(storage, listing), paths)]


def _batched(storage: Storage, listing: Iterable[FileStatus]) -> Iterator[str]:
    """Yield the markers of all files `MARKERS<n>`."""
    for status in listing:
        if BATCH_FILE.fullmatch(status.name):
            yield from _lines(storage.read(status.path, max_bytes=_MAX_BATCH_BYTES))


def _lines(content: bytes) -> Iterator[str]:
    """Yield the markers of a file `MARKERS<n>`.

    A restarted timeline server of Apache Hudi joins the markers that it had written before with commas. A last line without its end, where
    a file system does not replace files whole, precedes no data file: the writer has not got an answer.
    """
    lines = _JOINED.sub(r"\1\n", content.decode()).split("\n")
    yield from (line for line in lines[:-1] if line)
    if lines[-1] and parse_marker(lines[-1]) is not None:
        yield lines[-1]


def delete_unlisted(storage: Storage, instant: str, listed: Collection[str]) -> None:
    """Delete the files that markers of an instant name and its statistics do not: left by attempts that were
    repeated.
    """
    marked = {marker.data_path for marker in list_markers(storage, instant) or ()}
    for path in sorted(marked.difference(listed)):
        storage.delete(path)


def delete_files_of(storage: Storage, instant: str) -> None:
    """Delete all data files and markers of an instant that others rolled back while its writer was held up and wrote on.

    What it wrote afterwards has no marker. In layout 1, where names of log files do not have the time of their writer, this deletes no log.
    """
    for _, listing in walk_partitions(storage):
        for status in listing:
            if is_file_of(status.name, instant):
                storage.delete(status.path)
    delete_markers(storage, instant)


def delete_markers(storage: Storage, instant: str) -> None:
    """Delete an instant's markers."""
    storage.delete_tree(marker_folder(instant))


def delete_marker_directory(storage: Storage, instant: str) -> None:
    """Delete the markers of an instant that is visible already: a failure is logged, and left to the next writer."""
    try:
        delete_markers(storage, instant)
    except (HudiError, OSError) as error:
        _log.warning("markers of %s are still there: %s", instant, error)


def finished_marker_folders(storage: Storage, pending: Collection[str]) -> list[str]:
    """Return the instants that have markers though they are not pending any more: a writer died after its last step."""
    return [status.name for status in storage.list(TEMP_FOLDER) if status.is_dir and status.name.isdigit() and status.name not in pending]


def _files_below(storage: Storage, listing: Iterable[FileStatus]) -> Iterator[str]:
    waiting = [listing]
    while waiting:
        for status in waiting.pop():
            if status.is_dir:
                waiting.append(storage.list(status.path))
            elif not is_left_over(status.name) and not status.name.endswith(".crc"):  # a checksum of Hadoop's local file system
                yield status.path


def _marker(name: str, instant: str) -> Marker:
    marker = parse_marker(name)
    if marker is not None:
        file_name = marker.data_path.rsplit("/", 1)[-1]
        appended = marker.type is MarkerType.APPEND and (parse_log_file_name(file_name) or parse_base_file_name(file_name))
        if appended or is_file_of(file_name, instant):
            return marker
    raise CorruptTableError(f"'{name}' among the markers of {instant} does not name a data file of that instant.")


def is_file_of(path: str, instant: str) -> bool:
    """Tell whether a path's name is that of a data file which an instant wrote."""
    name = path.rsplit("/", 1)[-1]
    parsed = parse_base_file_name(name) or parse_log_file_name(name)
    return parsed is not None and parsed.instant == instant
