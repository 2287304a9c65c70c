"""Writing the archive of layout 1 (table version 6): files `.commits_.archive.<n>_1-0-1` of Avro blocks.

Rules: `TimelineArchiverV1`, `ArchivedTimelineV1`; docs/format/timeline.md#archived-timeline. Apache Hudi appends to the newest file and
begins another one now and then; here each run makes files of its own, which object stores can do as well, and files that are small are
joined. Each file is created whole, so that a cut leaves no half of one. The caller holds the table's lock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyhudi.codec.actions.archived_v1 import decode_archive, encode_archive
from pyhudi.codec.avro.avro_record import Record
from pyhudi.errors import CorruptTableError
from pyhudi.spec.instant import Action, State
from pyhudi.timeline.archived_v1_timeline import MAX_ARCHIVE_FILE_BYTES, archive_files, archive_number

if TYPE_CHECKING:
    from pyhudi.spec.table.table_config import TableConfig
    from pyhudi.storage.storage_protocol import FileStatus, Storage

#: Entries of one block. Each block repeats the schema of its entries, which takes 17 kB.
_BLOCK_ENTRIES: Final = 200
#: From this size on a file is neither joined with others nor continued (`hoodie.archive.merge.small.file.limit.bytes`).
_SMALL_BYTES: Final = 20 << 20
#: The join that is under way: names of the files that are joined, and of the file that they become.
_JOIN_PLAN: Final = "pyhudi.joined.archives"
#: Files that one archival writes, and the one into which it may have joined them: more than two only of very large commits.
_LATE_FILES: Final = 3
_ACTIONS: Final = frozenset(map(str, Action))
_MAX_PLAN_BYTES: Final = 1 << 20


def add_to_archive(storage: Storage, config: TableConfig, entries: Iterable[Record]) -> None:
    """Put entries, those of one instant together, into the archive; each file of them is there whole or not at all.

    Raises:
        StorageError: the storage failed; entries of files that are written are archived.
    """
    number = _next_number(archive_files(storage, config))
    blocks: list[bytes] = []
    remaining = iter(entries)
    while some := tuple(islice(remaining, _BLOCK_ENTRIES)):
        blocks.append(encode_archive(some))
        if sum(map(len, blocks)) >= _SMALL_BYTES:
            storage.create(_path(config, number), b"".join(blocks))
            number, blocks = number + 1, []
    if blocks:
        storage.create(_path(config, number), b"".join(blocks))


def archived_lately(storage: Storage, config: TableConfig) -> frozenset[tuple[str, Action]]:
    """Return the completed instants in the newest files of the archive, by requested time and action.

    An archival that was cut before it deleted what it had archived left that there.
    """
    files = archive_files(storage, config)[-_LATE_FILES:]
    entries = (entry for file in files for entry in decode_archive(storage.read(file.path, max_bytes=MAX_ARCHIVE_FILE_BYTES)))
    completed = (entry for entry in entries if entry.state.upper() == State.COMPLETED.name)
    return frozenset((entry.requested, Action(entry.action)) for entry in completed if entry.action in _ACTIONS)


def join_small_files(storage: Storage, config: TableConfig, count: int) -> None:
    """Join the small files of the archive once there are as many as `count`; a join that was cut is finished first.

    Raises:
        StorageError: the storage failed; the archive says what it said, parts of it perhaps twice.
    """
    files = archive_files(storage, config)
    if _finish_join(storage, config, files):
        files = archive_files(storage, config)
    small = [file for file in files if file.size < _SMALL_BYTES]
    if len(small) < max(2, count):
        return
    joined = _path(config, _next_number(files))
    plan = {"candidates": [file.name for file in small], "joined": joined.rpartition("/")[2]}
    storage.replace(f"{config.archive_path}/{_JOIN_PLAN}", json.dumps(plan).encode())
    storage.create(joined, b"".join(storage.read(file.path, max_bytes=MAX_ARCHIVE_FILE_BYTES) for file in small))
    _finish_join(storage, config, archive_files(storage, config))


def _finish_join(storage: Storage, config: TableConfig, files: Sequence[FileStatus]) -> bool:
    """Delete the files that a planned join has joined, and its plan; tell whether there was one."""
    path = f"{config.archive_path}/{_JOIN_PLAN}"
    try:
        plan = json.loads(storage.read(path, max_bytes=_MAX_PLAN_BYTES))
        joined, candidates = str(plan["joined"]), frozenset(map(str, plan["candidates"]))
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError, CorruptTableError):
        joined, candidates = "", frozenset()  # without the plan both stay, and entries that come twice are read once
    if any(file.name == joined for file in files):
        for file in files:
            if file.name in candidates:
                storage.delete(file.path)
    storage.delete(path)
    return True


def _next_number(files: Sequence[FileStatus]) -> int:
    return max(map(archive_number, files), default=0) + 1


def _path(config: TableConfig, number: int) -> str:
    return f"{config.archive_path}/.commits_.archive.{number}_1-0-1"
