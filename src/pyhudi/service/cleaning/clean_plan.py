"""Planning a clean: what is deleted, and back to when the table stays readable. Nothing is written.

Rules: `CleanPlanActionExecutor`, `CleanPlanner`; docs/format/services.md, docs/design/0084-cleaning.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from pyhudi.cache import LruCache
from pyhudi.errors import OptionError
from pyhudi.fsview.file_groups import PartitionFiles
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.pending_plans import planned_operations
from pyhudi.service.cleaning.clean_history import (
    FILTERED,
    SAVEPOINTED,
    Savepoints,
    completed_cleans,
    last_clean,
    savepointed_by,
    savepoints_of,
)
from pyhudi.service.cleaning.clean_settings import CleanPolicy, CleanSettings
from pyhudi.service.cleaning.obsolete_files import obsolete_files, retention
from pyhudi.service.cleaning.retention import earliest_to_retain
from pyhudi.service.cleaning.source_files import sources_of_skeletons
from pyhudi.service.cleaning.touched_partitions import commits_between, touched_partitions
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import instant_millis
from pyhudi.timeline.timeline import Timeline

#: Commits by which the retained state moves on before a clean that deletes nothing is recorded.
_EMPTY_AFTER: Final = 10
_MS_PER_HOUR: Final = 3_600_000
#: Up to which commit a table is known to hold nothing more to delete, with the savepoints of that time.
_SEARCHED: LruCache[tuple[str, str], tuple[Instant, frozenset[str]]] = LruCache(1024)


@dataclass(frozen=True, slots=True)
class CleanInput:
    """What a clean is planned from. `view` opens the table's files, which most plans of an incremental clean do not need."""

    storage: Storage
    config: TableConfig
    timeline: Timeline
    now: datetime
    view: Callable[[], FileSystemView]


@dataclass(frozen=True, slots=True)
class PlannedClean:
    """A plan with the sizes of its files in bytes, by partition path and name.

    `is_first` says that no clean came before, `is_resumed` that the plan was on the timeline since a time that is not known, which tells no
    sizes.
    """

    plan: CleanPlan
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    is_first: bool = False
    is_resumed: bool = False

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The names of the files that the clean deletes, by partition path."""
        return {path: tuple(file.rpartition("/")[2] for file in files) for path, files in self.plan.files.items()}

    def sizes_of(self, path: str, names: Iterable[str]) -> dict[str, int | None]:
        """Return the sizes of files of a partition by their names, None where they are not known."""
        known = self.sizes.get(path, {})
        return {name: known.get(name) for name in names}

    @property
    def files(self) -> int:
        """How many files the clean deletes."""
        return sum(map(len, self.plan.files.values()))

    @property
    def size(self) -> int:
        """Their bytes."""
        return sum(size for sizes in self.sizes.values() for size in sizes.values())


def plan_clean(source: CleanInput, settings: CleanSettings) -> PlannedClean | None:
    """Return what a clean would do; None when there is nothing to do.

    Raises:
        CorruptTableError: a file that the plan needs is damaged.
        OptionError: filters of partitions, and the clean would be incremental.
    """
    source, timeline = replace(source, view=functools.cache(source.view)), source.timeline
    last = last_clean(source.storage, source.config, timeline)
    if not is_triggered(timeline, last, settings):
        return None
    previous = "" if last is None else last.retained_from
    earliest = earliest_to_retain(timeline, settings, source.now, source.config.timeline_zone, previous)
    if earliest is None and settings.policy is not CleanPolicy.KEEP_LATEST_FILE_VERSIONS:
        return None
    savepoints = savepoints_of(source.storage, source.config, timeline)
    since = _searched_since(source, settings, last, savepoints)
    some = None
    if since is not None and earliest is not None:
        if earliest.requested <= since:
            return None
        between = commits_between(timeline, since, earliest.requested)
        some = touched_partitions(source.storage, source.config, timeline, between, lambda: source.view().partition_paths())
    planned = _planned(source, settings, earliest, savepoints, some)
    if planned is None and earliest is not None:
        if not settings.is_filtered:
            _remember(source, earliest, savepoints)
        return _empty(source, settings, earliest, last, savepoints)
    return planned if planned is None else replace(planned, is_first=last is None)


def is_triggered(timeline: Timeline, last: CleanMetadata | None, settings: CleanSettings) -> bool:
    """Tell whether enough commits were completed since the last clean."""
    since = "" if last is None else last.last_completed
    return sum(one.requested > since for one in timeline.data_instants()) >= settings.trigger_commits


def _searched_since(source: CleanInput, settings: CleanSettings, last: CleanMetadata | None, savepoints: Savepoints) -> str | None:
    """Return the commit up to which all partitions are clean; None when all of them must be looked at."""
    if not settings.incremental:
        return None
    active, times = source.timeline.data_instants(), frozenset(savepoints.times)
    known = _SEARCHED.get(_table_key(source))
    if known is not None and known[0] in active and known[1] <= times and (last is None or last.retained_from <= known[0].requested):
        return known[0].requested
    if (
        last is None
        or not last.retained_from
        or FILTERED in (last.extra_metadata or {})
        or not savepointed_by(last.extra_metadata) <= times
    ):
        return None
    return last.retained_from if active and active[0].requested <= last.retained_from else None


def _remember(source: CleanInput, earliest: Instant, savepoints: Savepoints) -> None:
    if earliest.completed is not None:  # without that time another table of the same path could have it
        _SEARCHED.put(_table_key(source), (earliest, frozenset(savepoints.times)))


def _table_key(source: CleanInput) -> tuple[str, str]:
    cleans = completed_cleans(source.timeline)
    return source.storage.uri, cleans[-1].requested if cleans else ""


def _planned(
    source: CleanInput, settings: CleanSettings, earliest: Instant | None, savepoints: Savepoints, some: tuple[str, ...] | None
) -> PlannedClean | None:
    """Return the plan for some partitions, or all of them; None when nothing is to be deleted there."""
    if some == ():
        return None
    if some is not None and settings.is_filtered:
        raise OptionError("filters of partitions need hoodie.clean.incremental.enabled=false")
    view = source.view()
    rule = retention(source.timeline, None if earliest is None else earliest.requested, settings.versions, _pending(source))
    replaced: dict[str, dict[str, str]] = {}
    for group, instant in view.replaced.items():
        replaced.setdefault(group.partition_path, {})[group.file_id] = instant
    sizes: dict[str, Mapping[str, int]] = {}
    dropped: list[str] = []
    view.look_up(some or ())
    for path in filter(settings.takes, view.partition_paths() if some is None else some):
        files = view.partition_files(path)
        names = obsolete_files(path, files, replaced.get(path, {}), savepoints.files.get(path, frozenset()), rule)
        if names:
            sizes[path] = names
        if path and replaced.get(path) and _is_left(source.storage, path, files, names):
            dropped.append(path)
    if not sizes and not dropped:
        return None
    return PlannedClean(_plan(source, settings, earliest, savepoints, sizes, dropped), sizes)


def _is_left(storage: Storage, path: str, files: PartitionFiles, names: Mapping[str, int]) -> bool:
    """Tell whether a partition is empty but for its metafile once its obsolete files are deleted."""
    if any(name not in names for name in files.sizes()):
        return False
    listing = storage.list(path)
    return bool(listing) and all(not one.is_dir and (one.name in names or one.name.startswith(PARTITION_METAFILE)) for one in listing)


def _pending(source: CleanInput) -> dict[tuple[str, str], str]:
    """Return the base instants of the slices that pending compactions and log compactions read."""
    pending: dict[tuple[str, str], str] = {}
    for instant in source.timeline.pending():
        if instant.action in (Action.COMPACTION, Action.LOG_COMPACTION):
            for operation in planned_operations(source.storage, source.config, instant):
                key = (operation.group.partition_path, operation.group.file_id)
                base = operation.base_instant or ""
                pending[key] = min(base, pending.get(key, base))
    return pending


def _plan(
    source: CleanInput,
    settings: CleanSettings,
    earliest: Instant | None,
    savepoints: Savepoints,
    sizes: Mapping[str, Iterable[str]],
    dropped: Iterable[str],
) -> CleanPlan:
    last = source.timeline.last_completed()
    sources = sources_of_skeletons(source.storage, sizes) if settings.deletes_sources else {}
    return CleanPlan(
        policy=settings.policy.value,
        retained_from=None if earliest is None else earliest.requested,
        retained_action=None if earliest is None else earliest.action.value,
        last_completed="" if last is None else last.requested,
        files={path: _uris(f"{source.storage.uri}/{join_path(path, '')}", names) for path, names in sizes.items()},
        partitions_to_delete=tuple(dropped),
        extra_metadata=_notes(settings, savepoints),
        sources={path: tuple(one.uri for one in of_path) for path, of_path in sources.items()},
    )


def _uris(folder: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple([folder + name for name in sorted(names)])


def _notes(settings: CleanSettings, savepoints: Savepoints) -> dict[str, str]:
    extra_metadata = {SAVEPOINTED: ",".join(savepoints.times)} if savepoints.times else {}
    return extra_metadata | ({FILTERED: ",".join(settings.selected) or settings.pattern} if settings.is_filtered else {})


def _empty(
    source: CleanInput, settings: CleanSettings, earliest: Instant, last: CleanMetadata | None, savepoints: Savepoints
) -> PlannedClean | None:
    """Return the plan of a clean that deletes nothing, which moves the retained state on; None when none is due.

    Apache Hudi records such cleans after some hours, and by default never; every clean of a table that only grows then lists all of its
    files again. Here they are recorded by default, after some commits (docs/differences.md).
    """
    if not settings.incremental or settings.is_filtered or settings.empty_hours == 0:
        return None
    previous = "" if last is None else last.retained_from
    if earliest.requested <= previous:
        return None
    if settings.empty_hours is None:
        later_instants = sum(previous <= one.requested < earliest.requested for one in source.timeline.data_instants())
        if later_instants < _EMPTY_AFTER:
            return None
    elif last is not None:
        age = source.now.timestamp() * 1000 - instant_millis(last.start, source.config.timeline_zone)
        if age < settings.empty_hours * _MS_PER_HOUR:
            return None
    return PlannedClean(_plan(source, settings, earliest, savepoints, {}, ()))
