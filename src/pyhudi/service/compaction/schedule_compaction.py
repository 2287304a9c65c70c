"""Puts a compaction on the timeline, as requested. The caller holds the table's lock and has rolled back what failed writers left.

Rules: `ScheduleCompactionActionExecutor`. From here on new log files of the planned groups belong to the next slice (`fsview`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from pyhudi.codec.actions.plan_codec import encode_compaction_plan
from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.service.compaction.compaction_plan import plan_compaction, plan_log_compaction
from pyhudi.service.compaction.compaction_settings import CompactionSettings
from pyhudi.service.compaction.pending_compactions import busy_groups
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant
from pyhudi.txn.locked_table import LockedTable

Planner = Callable[[FileSystemView, CompactionSettings, Collection[FileGroupId]], CompactionPlan]
_PLANNERS: Final[Mapping[Action, Planner]] = {Action.COMPACTION: plan_compaction, Action.LOG_COMPACTION: plan_log_compaction}


def build_plan(table: LockedTable, action: Action, settings: CompactionSettings) -> CompactionPlan:
    """Return the plan that would be put on the timeline now.

    Raises:
        UsageError: the table is copy-on-write.
        OptionError: a strategy goes by days and a partition is named for none.
    """
    if not table.config.is_merge_on_read:
        raise UsageError(f"table {table.storage.uri} is copy-on-write: it has no log files to compact.")
    view = open_view(table.storage, table.config, table.timeline)
    return _PLANNERS[action](view, settings, busy_groups(table))


def schedule(table: LockedTable, action: Action, settings: CompactionSettings) -> Instant | None:
    """Request a compaction or log compaction and return its instant; None when there is nothing to do. Errors as in `build_plan`."""
    plan = build_plan(table, action, settings)
    if not plan.operations:
        return None
    return table.writer.request(action, table.times.next(), encode_compaction_plan(plan, sync=table.ids.sync_marker()))
