"""What is wrong with a table: files that are missing, cut or damaged, and actions that never ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.metadata_table.services.validate import metadata_table_problems
from pyhudi.metadata_table.write.inflight import pending_builds
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.instant import Action, Instant
from pyhudi.table.inspect.inspect_logs import log_problems
from pyhudi.table.lost_rows import lost_files, overlooked_writes
from pyhudi.timeline.instant_details import read_commit

#: `check`, `subject`, `problem`.
Problem: TypeAlias = dict[str, str]

_WAITING = {
    Action.COMPACTION: "compact()",
    Action.LOG_COMPACTION: "compact()",
    Action.CLUSTERING: "cluster()",
    Action.INDEXING: "index(mode='execute')",
}


def problems(view: FileSystemView) -> Iterator[Problem]:
    """Yield what is wrong with the files that the current state reads, with the timeline and with the metadata table."""
    schema = table_schema(view.storage, view.config, view.timeline).columns
    whole = set[str]()  # base files whose footers have been read: each is opened once
    of_metadata_table = list(metadata_table_problems(view, schema, whole))
    for path in view.partition_paths():
        for file_slice in (group.slices[0] for group in view.groups(path)):
            yield from _damage(view, file_slice, whole)
        try:
            view.latest_slices(path)
        except CorruptTableError as error:
            yield _problem("base file is there", path, str(error))
    yield from (_list_unfinished(instant) for instant in view.timeline.pending())
    yield from (_list_repeated(instant) for instant in view.timeline.repeated)
    if not pending_builds(view.timeline):
        for name in view.config.metadata_partitions_inflight:
            yield _problem("nothing pending", name, "left of a build that nobody runs any more; the next write removes it")
    yield from _not_as_committed(view)
    yield from (_problem("files are as their commits state", *lost) for lost in lost_files(view))
    yield from (_problem("later writes took up all rows", *lost) for lost in overlooked_writes(view))
    yield from (_problem(*problem) for problem in of_metadata_table)


def _damage(view: FileSystemView, file_slice: FileSlice, whole: Collection[str]) -> Iterator[Problem]:
    if file_slice.base is not None and file_slice.base.path not in whole:
        try:
            with open_data(view.storage, file_slice.base.path) as parquet:
                assert parquet.metadata is not None
        except CorruptTableError as error:
            yield _problem("file is whole", file_slice.base.path, str(error))
    for log in file_slice.logs:
        yield from (_problem("file is whole", log.path, problem) for problem in log_problems(view.storage, log.path))


def _list_unfinished(instant: Instant) -> Problem:
    if instant.action in _WAITING:
        reason = f"planned, and to be run by table.services.{_WAITING[instant.action]} or whoever planned it"
    elif instant.action is Action.CLEAN:
        reason = "planned, and to be run by table.services.clean(), or by the next write that cleans"
    else:
        reason = "running, or left by a writer that died"
    return _problem("nothing pending", instant.requested, f"{instant.action} is {instant.state.name.lower()}: {reason}")


def _list_repeated(instant: Instant) -> Problem:
    reason = "was completed before, as Apache Hudi does when it drops expired partitions or runs a clean twice; the first time counts"
    return _problem("completed once", instant.requested, f"{instant.action} completed at {instant.completed} {reason}")


def _not_as_committed(view: FileSystemView) -> Iterator[Problem]:
    """Yield files of the latest commit that are not there or have another size."""
    last = view.timeline.last_completed()
    if last is None:
        return
    for stat in read_commit(view.storage, view.config, last).all_stats():
        status = view.storage.stat(stat.path) if stat.path else None
        if stat.path and (status is None or status.size != stat.file_size_in_bytes):
            size = "missing" if status is None else f"{status.size} bytes"
            yield _problem("commit's files", stat.path, f"commit {last.requested} wrote {stat.file_size_in_bytes} bytes, found: {size}")


def _problem(check: str, subject: str, problem: str) -> Problem:
    return {"check": check, "subject": subject, "problem": problem}
