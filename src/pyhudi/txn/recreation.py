"""A table that takes the place of another one on its path: the change from the one to the other, and what a cut leaves of it.

1. A file in the old table's timeline says that a new table is being written (`begin_recreation`); it is written next to the old one
   (`pyhudi.storage.recreated_storage`), with a first commit that replaces all file groups of the old table.
2. One replacement of `hoodie.properties` is the change (`switch`): it names the timeline of the new table, where that was written.
3. The old table's files are deleted, the new one's timeline, in which that commit replaces nothing from now on, and its metadata table are
   copied to their usual folders, and a second replacement of the properties names these (`_finish`).

Cut before step 2 the table is the old one, cut after it the new one. Whoever takes the table's lock next undoes what was begun, or finishes
it (`recover_recreation`). Apache Hudi deletes the old table before it creates the new one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pyhudi.codec.partition_metafile import parse
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE, file_and_instant, parse_log_file_name
from pyhudi.spec.instant import parse_instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_identity import ACCEPTED_FILE
from pyhudi.storage.recreated_storage import META_FOLDER, RECREATION_FOLDER, RecreatedStorage, written_at
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.storage.table_properties import BACKUP, PROPERTIES, load_properties, replace_properties
from pyhudi.storage.temporary_files import is_left_over
from pyhudi.timeline.moved_timeline import MOVED_FILE, RECREATED_FILE

_USUAL: Final = "timeline"
_TIMELINE: Final = f"{META_FOLDER}/{_USUAL}"
_NEW_TIMELINE: Final = f"{RECREATION_FOLDER}/{_USUAL}"
_NOTE: Final = f"{RECREATION_FOLDER}/pyhudi.recreation.json"
_METADATA: Final = "metadata"
_MAX_NOTE_BYTES: Final = 1 << 30
_CHUNK: Final = 8 << 20
#: What both tables have: the locks among it, one of which is held.
_SHARED: Final = frozenset(
    {PROPERTIES, BACKUP, RECREATION_FOLDER, f"{META_FOLDER}/.locks", f"{META_FOLDER}/lock", f"{META_FOLDER}/{MOVED_FILE}"}
)
_AUXILIARY: Final = f"{META_FOLDER}/.aux"
#: What a running write has, which is over.
_NOT_COPIED: Final = frozenset({"hoodie.properties", "hoodie.properties.backup", ".temp", ".heartbeat", _NOTE.rpartition("/")[2]})


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A folder with data files or a partition metafile, and the files in it."""

    path: str
    files: tuple[FileStatus, ...]


@dataclass(frozen=True, slots=True)
class _Note:
    """What was noted at the change: the time of the new table's first commit and what it says in the end, the file groups that it replaces
    at first, the files of the new timeline, the properties.
    """

    first: str
    commit: bytes
    replaced: Mapping[str, frozenset[str]]
    timeline: frozenset[str]
    properties: Mapping[str, str]


def data_folders(storage: Storage) -> Iterator[DataFolder]:
    """Yield the folders of a table that hold files; those of another table below this one are left out."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        statuses = storage.list(path)
        if path and any(status.name == META_FOLDER and status.is_dir for status in statuses):
            continue
        waiting += [status.path for status in statuses if status.is_dir and status.path != META_FOLDER]
        if files := tuple(status for status in statuses if not status.is_dir):
            yield DataFolder(path, files)


def file_groups_of(storage: Storage) -> dict[str, tuple[str, ...]]:
    """Return the ids of all file groups that have a file, committed or not, by partition path."""
    groups: dict[str, tuple[str, ...]] = {}
    for folder in data_folders(storage):
        ids = {file_id for status in folder.files if (file_id := _file_id(status.name)) is not None}
        if ids:
            groups[folder.path] = tuple(sorted(ids))
    return groups


def begin_recreation(storage: Storage, old: TableConfig) -> None:
    """Say in the timeline of a table that another one is being written in its place. The caller holds the lock."""
    storage.delete_tree(RECREATION_FOLDER)
    storage.replace(f"{old.timeline_path}/{RECREATED_FILE}", b"")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The first commit of the new table: the file groups of the old one by partition path, and the commit's content without them."""

    requested: str
    groups: Mapping[str, tuple[str, ...]]
    without_groups: bytes


def switch(storage: Storage, old: TableConfig, first: Replacement, at: datetime) -> TableConfig:
    """Make the new table that which is on the path, and return its properties as they are at first."""
    new = load_properties(RecreatedStorage(storage, ""))
    note = {
        "first": first.requested,
        "commit": base64.b64encode(first.without_groups).decode(),
        "replaced": first.groups,
        "timeline": sorted(storage.file_names(_NEW_TIMELINE)),
        "properties": new,
    }
    storage.replace(_NOTE, json.dumps(note).encode())
    storage.replace(f"{old.timeline_path}/{MOVED_FILE}", b"")
    properties = properties_at_first(new)
    replace_properties(storage, properties, at)
    return TableConfig(properties)


def properties_at_first(new: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a new table while the old one's files are there: its readers list, its timeline is where it was written."""
    left_out = (keys.METADATA_PARTITIONS, keys.METADATA_PARTITIONS_INFLIGHT)
    first = {name: value for name, value in new.items() if name not in left_out}
    return {**first, keys.TIMELINE_PATH: _NEW_TIMELINE.removeprefix(f"{META_FOLDER}/")}


def is_interrupted(config: TableConfig, timeline_names: Collection[str]) -> bool:
    """Tell by what is read anyway whether a recreation may have been cut off."""
    return config.timeline_path == _NEW_TIMELINE or RECREATED_FILE in timeline_names or MOVED_FILE in timeline_names


def is_switched(storage: Storage) -> bool:
    """Tell whether the path holds the new table, whose files are not yet where they belong."""
    return TableConfig(load_properties(storage)).timeline_path == _NEW_TIMELINE


def recover_recreation(storage: Storage, at: datetime) -> bool:
    """Undo or finish a recreation that was cut off, and tell whether there was one. The caller holds the lock.

    Raises:
        CorruptTableError: what was noted of it is damaged.
        StorageError: the storage failed; the next call goes on.
    """
    config = TableConfig(load_properties(storage))
    if config.timeline_path == _NEW_TIMELINE:
        _finish(storage, at)
        return True
    if storage.stat(f"{config.timeline_path}/{RECREATED_FILE}") is not None:
        _undo(storage, config)
        return True
    if storage.stat(RECREATION_FOLDER) is not None:
        _clear(storage)
        return True
    return False


def _undo(storage: Storage, old: TableConfig) -> None:
    """Delete what was written of the new table."""
    begun = (parse_instant(name, 2) for name in storage.file_names(_NEW_TIMELINE))
    instants = {instant.requested for instant in begun if instant is not None}
    for folder in data_folders(storage):
        new = {status.name for status in folder.files if written_at(_finished_name(status.name)) in instants}
        left = _delete_files(storage, folder, new)
        if _made_at(storage, folder) in instants or all(is_left_over(status.name) for status in left):
            _delete_without_data(storage, folder.path, left)
    storage.delete_tree(RECREATION_FOLDER)
    storage.delete(f"{old.timeline_path}/{MOVED_FILE}")
    storage.delete(f"{old.timeline_path}/{RECREATED_FILE}")


def _finish(storage: Storage, at: datetime) -> None:
    """Delete the old table, and give the files of the new one their usual folders."""
    note = _read_note(storage)
    for status in storage.list(META_FOLDER):
        if status.path == _TIMELINE:
            _delete_below(storage, _TIMELINE)
        elif status.path == _AUXILIARY:
            _delete_below(storage, _AUXILIARY, ACCEPTED_FILE)
        elif status.path not in _SHARED:
            storage.delete_tree(status.path) if status.is_dir else storage.delete(status.path)
    for folder in data_folders(storage):
        old = {status.name for status in folder.files if _file_id(status.name) in note.replaced.get(folder.path, ())}
        _delete_without_data(storage, folder.path, _delete_files(storage, folder, old))
    names = set(storage.file_names(_NEW_TIMELINE)) - {MOVED_FILE}
    is_untouched = names == note.timeline
    _copy_below(storage, RECREATION_FOLDER, {_USUAL, *_NOT_COPIED} if is_untouched else {_USUAL, _METADATA, *_NOT_COPIED})
    _copy_below(storage, _NEW_TIMELINE, ())
    for name in names:
        if name.startswith(f"{note.first}_"):
            storage.replace(f"{_TIMELINE}/{name}", note.commit)  # change data would look for the files that are deleted
    storage.replace(f"{_TIMELINE}/{MOVED_FILE}", b"")
    storage.replace(f"{_NEW_TIMELINE}/{MOVED_FILE}", b"")
    replace_properties(
        storage, note.properties if is_untouched else {**properties_at_first(note.properties), keys.TIMELINE_PATH: _USUAL}, at
    )
    _clear(storage)


def _clear(storage: Storage) -> None:
    """Delete what is left when the new table has its usual folders."""
    _delete_below(storage, _NEW_TIMELINE)
    storage.delete_tree(RECREATION_FOLDER)
    for folder in (META_FOLDER, _TIMELINE):
        storage.delete(f"{folder}/{MOVED_FILE}")


def _delete_files(storage: Storage, folder: DataFolder, names: Collection[str]) -> list[FileStatus]:
    """Delete files of a folder, and return the others."""
    for name in sorted(names):
        storage.delete(join_path(folder.path, name))
    return [status for status in folder.files if status.name not in names]


def _delete_below(storage: Storage, folder: str, retained: str = MOVED_FILE) -> None:
    """Delete what is in a folder but one file: of a timeline the one by which its readers learn where the other is."""
    for status in storage.list(folder):
        if status.is_dir:
            storage.delete_tree(status.path)
        elif status.name != retained:
            storage.delete(status.path)


def _delete_without_data(storage: Storage, path: str, left: Collection[FileStatus]) -> None:
    """Delete a partition's metafile when it has no other file, and the folder, and those above it, when nothing is in them."""
    if any(not _finished_name(status.name).startswith(PARTITION_METAFILE) for status in left):
        return
    for status in left:
        storage.delete(status.path)
    while path and not storage.list(path):
        storage.delete_tree(path)
        path = path.rpartition("/")[0]


def _copy_below(storage: Storage, folder: str, left_out: Collection[str]) -> None:
    for status in storage.list(folder):
        if status.name in left_out or status.name == MOVED_FILE:
            continue
        if status.is_dir:
            storage.make_dir(META_FOLDER + status.path[len(RECREATION_FOLDER) :])
            _copy_below(storage, status.path, ())
        else:
            _copy(storage, status.path, META_FOLDER + status.path[len(RECREATION_FOLDER) :])


def _copy(storage: Storage, source: str, target: str) -> None:
    storage.delete(target)  # of an attempt that was cut off
    with storage.open_input(source) as rows, storage.open_output(target) as copy:
        while chunk := rows.read(_CHUNK):
            copy.write(chunk)


def _read_note(storage: Storage) -> _Note:
    try:
        note = json.loads(storage.read(_NOTE, max_bytes=_MAX_NOTE_BYTES))
        replaced = {path: frozenset(ids) for path, ids in note["replaced"].items()}
        return _Note(note["first"], base64.b64decode(note["commit"]), replaced, frozenset(note["timeline"]), note["properties"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptTableError(
            f"'{_NOTE}' of table {storage.uri} is missing or damaged ({error}): the table can be read, but the change from the table that"
            " was there before cannot be finished. Restore that file from a copy, or write the rows to another path."
        ) from error


def _made_at(storage: Storage, folder: DataFolder) -> str | None:
    """Return the instant that made a folder a partition, None where there is no metafile."""
    if all(status.name != PARTITION_METAFILE for status in folder.files):
        return None
    try:
        return parse(storage.read(join_path(folder.path, PARTITION_METAFILE))).commit_time
    except (CorruptTableError, FileNotFoundError):
        return None


def _finished_name(name: str) -> str:
    """Return the name that a file gets which the local storage has not finished; that of another one as it is."""
    return name[1:].rpartition(".")[0].rpartition(".")[0] if is_left_over(name) else name


def _file_id(name: str) -> str | None:
    base = file_and_instant(name)
    if base is not None:
        return base[0]
    try:
        log = parse_log_file_name(name)
    except UnsupportedError:
        return None
    return None if log is None else log.file_id
