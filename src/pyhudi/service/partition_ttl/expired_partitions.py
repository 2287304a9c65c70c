"""Which partitions of a table have expired.

Rules: `KeepByTimeStrategy`, `KeepByCreationTimeStrategy`, `PartitionTTLStrategy`. Ages are counted in whole milliseconds of any size: in
Apache Hudi 25 days overflow. A partition that was written to lately, but only to log files, is not old; Apache Hudi goes by the base
instants of slices, so that it drops such a partition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.committed_sizes import stated_files
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.partition_folder import read_partition_metafile
from pyhudi.service.partition_ttl.ttl_result import ExpiredPartition
from pyhudi.service.partition_ttl.ttl_settings import TtlSettings, TtlStrategy
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.timeline.clock import instant_millis

_DAY_MS = 24 * 60 * 60 * 1000


def expired_partitions(view: FileSystemView, settings: TtlSettings, now: str) -> tuple[tuple[ExpiredPartition, ...], tuple[str, ...]]:
    """Return the partitions that have expired at an instant time, the oldest first, and those of them that a pending compaction holds back.

    Args:
        view: the table's files.
        settings: which expire; as many are returned as they allow to be dropped at once.
        now: the instant time.
    """
    if settings.days <= 0 or not view.config.partition_fields:
        return (), ()
    zone = view.config.timeline_zone
    bound = instant_millis(now, zone) - settings.days * _DAY_MS
    expired = [one for one in _partitions(view, settings) if instant_millis(one.since, zone) < bound]
    compacting = {group.partition_path for group in view.pending_compaction} if view.config.is_merge_on_read else set()
    free = sorted((one for one in expired if one.path not in compacting), key=lambda one: (one.since, one.path))
    return tuple(free[: settings.most]), tuple(sorted(one.path for one in expired if one.path in compacting))


def _partitions(view: FileSystemView, settings: TtlSettings) -> Iterator[ExpiredPartition]:
    """Yield the partitions that may expire and have rows, with the time that their age counts from."""
    by_creation = settings.strategy is TtlStrategy.KEEP_BY_CREATION_TIME
    written = {} if by_creation or view.config.layout > 1 else _times_of_logs(view)
    for path in view.partition_paths():
        if settings.selected and path not in settings.selected:
            continue
        slices = view.latest_slices(path)
        since = _created(view, path) if by_creation else max((*map(_modified, slices), written.get(path, "")), default="")
        if slices and since:
            yield ExpiredPartition(path, since, len(slices), sum(map(_bytes, slices)))


def _created(view: FileSystemView, path: str) -> str:
    """Return the instant that made a partition; empty when it is unknown."""
    try:
        return read_partition_metafile(view.storage, path).commit_time
    except (FileNotFoundError, CorruptTableError):
        return ""


def _modified(file_slice: FileSlice) -> str:
    return max((file_slice.base_instant, *(log.name.instant for log in file_slice.logs)))


def _times_of_logs(view: FileSystemView) -> Mapping[str, str]:
    """Return for each partition when an active commit last wrote to it: log files of layout 1 have the time of their slice."""
    result: dict[str, str] = defaultdict(str)
    for path, groups in stated_files(view.storage, view.config, view.timeline).items():
        result[path] = max(file.commit for files in groups.values() for file in files)
    return result


def _bytes(file_slice: FileSlice) -> int:
    return (0 if file_slice.base is None else file_slice.base.size) + sum(log.size for log in file_slice.logs)
