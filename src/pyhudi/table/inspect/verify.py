"""Reads a whole table, every file and every page, and tells what is damaged: what a reader would only find when it gets there.

Rules: each file of a committed slice is read as a scan would read it, with its checksums, and so is the source of a skeleton; each action
of the timeline is decoded; the metadata table's files are compared with its commits, and its records are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import HudiError
from pyhudi.fsview.checked_logs import checksum_of
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error, footer_entries, open_parquet
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.kernels.log_file.block_rows import data_rows
from pyhudi.kernels.log_file.log_checksum import check_log_bytes
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spec.files.bootstrap_source import is_skeleton
from pyhudi.spec.files.file_group import LogFile
from pyhudi.spec.instant import Instant
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.inspect.inspect_logs import log_problems
from pyhudi.timeline.instant_details import instant_path, read_action
from pyhudi.timeline.timeline import Timeline

#: Called after each file with how many are done and how many there are.
Progress: TypeAlias = Callable[[int, int], None]
#: `path`, `kind`, `problem`.
Damage: TypeAlias = dict[str, str]
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class _Work:
    """Something to be read, and what reads it: it returns what is wrong."""

    path: str
    kind: str
    read: Callable[[], Iterable[str]]


def damages(view: FileSystemView, progress: Progress | None = None) -> Iterator[Damage]:
    """Yield all damage of a table.

    Args:
        view: shows the table by listing.
        progress: called with each file that was read.
    """
    work = [*_timeline(view), *_data(view), *_lost(view), *_metadata_table(view)]
    done = 0
    engine = LocalEngine()
    for start in range(0, len(work), _AT_ONCE):
        some = work[start : start + _AT_ONCE]
        for one, problems in zip(some, engine.run(_problems, some), strict=True):
            done += 1
            if progress is not None:
                progress(done, len(work))
            yield from ({"path": one.path, "kind": one.kind, "problem": problem} for problem in problems)


def _problems(work: _Work) -> list[str]:
    try:
        return list(work.read())
    except (HudiError, FileNotFoundError) as error:
        return [str(error)]


def _timeline(view: FileSystemView) -> Iterator[_Work]:
    storage, config, timeline = view.storage, view.config, view.timeline

    def action(instant: Instant) -> Sequence[str]:
        read_action(storage, config, instant)
        return ()

    for instant in timeline.completed():
        yield _Work(instant_path(config, instant), "instant", lambda one=instant: action(one))  # type: ignore[misc]
    if timeline.archive is not None:
        yield _Work(config.history_path, "archive", lambda: _read_archive(timeline))


def _read_archive(timeline: Timeline) -> Iterator[str]:
    assert timeline.archive is not None
    for instant in timeline.archive.instants():
        timeline.archive.content(instant)
    yield from ()


def _data(view: FileSystemView) -> Iterator[_Work]:
    storage = view.storage
    for path in view.partition_paths():
        for file_slice in (file_slice for group in view.groups(path) for file_slice in group.slices):
            if file_slice.base is not None:
                yield _Work(file_slice.base.path, "base file", lambda one=file_slice.base.path: _read_pages(storage, one))  # type: ignore[misc]
                if is_skeleton(file_slice.base.name.instant):
                    yield _Work(file_slice.base.path, "source file", lambda one=file_slice.base.path: _read_source(storage, one))  # type: ignore[misc]
            for log in file_slice.logs:
                yield _Work(log.path, "log file", lambda one=log: _read_log(view, one))  # type: ignore[misc]


def _read_pages(storage: Storage, path: str) -> Iterator[str]:
    if not path.endswith(".parquet"):
        yield "this release does not read files of its format, so that it was not verified"
        return
    with open_parquet(storage, path) as file:
        footer_entries(file, storage, path)
        for _ in file.iter_batches():
            pass


def _read_source(storage: Storage, path: str) -> Iterator[str]:
    """Read the source file of a skeleton, whose rows are those of the skeleton."""
    with open_parquet(storage, path) as skeleton, open_data(storage, path) as source:
        if skeleton.metadata.num_rows != source.metadata.num_rows:
            yield f"its source file has {source.metadata.num_rows} rows instead of {skeleton.metadata.num_rows}"
        for _ in source.iter_batches():
            pass


def _read_log(view: FileSystemView, log: LogFile) -> Iterator[str]:
    storage, path = view.storage, log.path
    checksum = checksum_of(storage, view.config, view.timeline, log)
    if checksum is not None:
        with storage.open_input(path) as source:
            check_log_bytes(source, path, storage.uri, checksum)
    if problems := log_problems(storage, path):
        yield from problems
        return
    status = storage.stat(path)
    with corrupt_as_error(storage, path), storage.open_input(path) as source:
        for block in scan_blocks(source, path, 0 if status is None else status.size):
            if block.type.holds_rows and block.header.schema_json is not None:
                names = [*META_COLUMNS, *avro_to_arrow(block.header.schema_json).names]
                try:
                    for _ in data_rows(block, read_content(source, block), names):
                        pass
                except (HudiError, ValueError) as error:
                    yield f"block at byte {block.offset}: {error}"


def _lost(view: FileSystemView) -> Iterator[_Work]:
    checked = CheckedView(view.storage, view.config, view.timeline)

    def look(path: str) -> Sequence[str]:
        checked.latest_slices(path)
        return ()

    for path in view.partition_paths():
        yield _Work(path or ".", "partition", lambda one=path: look(one))  # type: ignore[misc]


def _metadata_table(view: FileSystemView) -> Iterator[_Work]:
    storage, config, timeline = view.storage, view.config, view.timeline

    def records(name: str) -> Iterator[str]:
        for _ in MetadataTable.open(storage, config, timeline).records(name):
            pass
        yield from ()

    for name in config.metadata_partitions:
        yield _Work(name, "metadata table", lambda one=name: records(one))  # type: ignore[misc]
