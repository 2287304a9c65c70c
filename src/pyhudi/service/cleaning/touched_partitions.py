"""Which partitions an incremental clean looks at: those where commits since the last clean put files out of use.

Rules: `CleanPlanner.getPartitionPathsForIncrementalCleaning`. What a completed commit did never changes, so it is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from pyhudi.cache import LruCache
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_written_paths
from pyhudi.timeline.timeline import Timeline

_NO_COMMIT = (None, "", "null")
#: The partitions of the table are listed when so many are touched.
_MANY: Final = 32
_TOUCHED: LruCache[tuple[str, str, str], frozenset[str]] = LruCache(4096)


def commits_between(timeline: Timeline, previous: str, earliest: str) -> tuple[Instant, ...]:
    """Return the completed writes from one commit to another, which is left out, and those before that were completed later.

    Args:
        timeline: the table's.
        previous: requested time of the commit that the last clean retained first.
        earliest: that of the commit that the next clean retains first.
    """
    bound = timeline.effective_time(previous)
    return tuple(
        one
        for one in timeline.data_instants()
        if one.requested < earliest
        and (one.requested >= previous or (timeline.layout > 1 and (timeline.completion_time(one.requested) or "") > bound))
    )


def touched_partitions(
    storage: Storage, config: TableConfig, timeline: Timeline, instants: Iterable[Instant], all_paths: Callable[[], Collection[str]]
) -> tuple[str, ...]:
    """Return the partitions where some commits put file slices or file groups out of use, sorted.

    The newest commits are read first, and no more of them once all partitions of the table, `all_paths`, are touched: commits of many
    files would take longer to read than all partitions to search.

    Raises:
        CorruptTableError: a commit is unreadable.
    """
    touched: set[str] = set()
    for instant in sorted(instants, key=lambda one: one.requested, reverse=True):
        if len(touched) >= _MANY and touched.issuperset(all_paths()):
            break
        key = (storage.uri, instant.requested, instant.completed or "")
        partitions = _TOUCHED.get(key) if instant.completed else None
        if partitions is None:
            metadata = load_written_paths(storage, config, timeline, instant)
            partitions = frozenset(_touched(metadata, is_replace=instant.action is Action.REPLACE_COMMIT))
            if instant.completed:
                _TOUCHED.put(key, partitions)
        touched |= partitions
    return tuple(sorted(touched))


def note_touched(storage: Storage, instant: Instant, metadata: CommitMetadata) -> None:
    """Remember what a commit did that this process has just made."""
    if instant.completed:
        partitions = frozenset(_touched(metadata, is_replace=instant.action is Action.REPLACE_COMMIT))
        _TOUCHED.put((storage.uri, instant.requested, instant.completed), partitions)


def _touched(metadata: CommitMetadata, *, is_replace: bool) -> Iterable[str]:
    """Yield the partitions: a log file joins the slice before it, and a file without predecessor begins a file group."""
    if is_replace:
        yield from metadata.replaced or {}
        yield from metadata.stats
        return
    for path, stats in metadata.stats.items():
        if any(stat.prev_commit not in _NO_COMMIT and parse_log_file_name((stat.path or "").rpartition("/")[2]) is None for stat in stats):
            yield path
