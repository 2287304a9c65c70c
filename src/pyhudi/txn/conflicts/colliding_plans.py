"""Plans that nobody may carry out, because their time is that of another action.

A process that is held up while it creates the file of a plan may lose the lock meanwhile, and whoever holds it then may give the same time
to an action of its own (`TimelineWriter.request`). The plan stays, since its process cannot tell whether another one has taken it up.
Whoever takes the lock next can: a plan that nobody has begun is deleted before anything is decided by it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.instant import DATA_ACTIONS, Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path, read_action
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)
#: Actions that are planned first, by their names; a savepoint has the time of a write, and says so.
_PLANNED: Final = {str(action): action for action in Action if action not in DATA_ACTIONS and action is not Action.SAVEPOINT}
#: The files that show that an action has begun, a write by the first of its files, and others by the second.
_FIRST_FILES: Final = (*(f"{action}.requested" for action in DATA_ACTIONS), *(f"{name}.inflight" for name in _PLANNED))


def remove_colliding_plans(storage: Storage, config: TableConfig, timeline: Timeline, files: Collection[str]) -> bool:
    """Delete plans with the time of another action, and tell whether there were any. The caller holds the table's lock.

    Args:
        storage: the table's.
        config: its properties.
        timeline: its timeline.
        files: the names of the files that the timeline was loaded from.
    """
    colliding = [plan for plan in _colliding_plans(timeline, files) if not _has_rows(storage, config, plan)]
    for plan in colliding:
        _log.warning("the plan of %s %s of table %s is deleted: another action has its time", plan.action, plan.requested, storage.uri)
        storage.delete(instant_path(config, plan))
    return bool(colliding)


def _colliding_plans(timeline: Timeline, files: Collection[str]) -> Iterator[Instant]:
    """Yield plans that were not begun, at the times of other actions that were. Names are put together, since each lock comes by."""
    pending = (one.requested for one in timeline.pending() if one.state is State.REQUESTED)
    for time in {*pending, *timeline.services, *timeline.log_compactions}:
        for name, action in _PLANNED.items():
            is_waiting = f"{time}.{name}.requested" in files and f"{time}.{name}.inflight" not in files
            if is_waiting and any(f"{time}.{first}" in files for first in _FIRST_FILES if not first.startswith(name)):
                yield Instant(time, action, State.REQUESTED)


def _has_rows(storage: Storage, config: TableConfig, plan: Instant) -> bool:
    """Tell whether log files are named by a compaction of layout 1, as writers of Apache Hudi name them from its plan on."""
    if config.layout > 1 or plan.action is not Action.COMPACTION:
        return False
    try:
        content = read_action(storage, config, plan)
    except (FileNotFoundError, CorruptTableError):
        return False
    operations = (content.operations or ()) if isinstance(content, CompactionPlan) else ()
    names = (status.name for path in {one.group.partition_path for one in operations} for status in storage.list(path))
    return any((log := parse_log_file_name(name)) is not None and log.instant == plan.requested for name in names)
