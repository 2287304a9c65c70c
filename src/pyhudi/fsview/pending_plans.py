"""File groups that a pending compaction is to rewrite.

Rules: `CompactionUtils.getAllPendingCompactionOperations`; docs/format/data-files.md#file-system-view. A reader needs none of it: the logs
written since are in the slice before. A writer of version 6 does: it names a log by the slice that the compaction will make.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.pending_clustering import damaged_plan_error, was_rolled_back
from pyhudi.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class PendingCompaction:
    """What is planned for one file group, and the requested time of the compaction, that of the base file to come."""

    instant: str
    operation: CompactionOperation


def pending_compactions(storage: Storage, config: TableConfig, timeline: Timeline) -> dict[FileGroupId, PendingCompaction]:
    """Return the file groups under pending compaction; log compactions make no slice and are left out, and so is a compaction that was
    cancelled since the timeline was loaded.

    Raises:
        CorruptTableError: a pending compaction has no plan, or what stands for it is none.
    """
    result: dict[FileGroupId, PendingCompaction] = {}
    for instant in timeline.pending():
        if instant.action is Action.COMPACTION:
            for operation in planned_operations(storage, config, instant):
                result[operation.group] = PendingCompaction(instant.requested, operation)
    return result


def planned_operations(storage: Storage, config: TableConfig, instant: Instant) -> tuple[CompactionOperation, ...]:
    """Return what a pending compaction or log compaction is to rewrite: nothing if it was cancelled since it was listed.

    Raises:
        CorruptTableError: as `read_plan`.
    """
    try:
        return tuple(read_plan(storage, config, instant).operations or ())
    except CorruptTableError:
        if was_rolled_back(storage, config, instant):
            return ()
        raise


def read_plan(storage: Storage, config: TableConfig, instant: Instant) -> CompactionPlan:
    """Return the plan of a pending compaction or log compaction, which is in its requested file.

    Raises:
        CorruptTableError: the file is missing or holds no plan, or the plan leads out of the table.
    """
    requested = Instant(instant.requested, instant.action, State.REQUESTED)
    try:
        plan = read_action(storage, config, requested)
    except FileNotFoundError:
        raise damaged_plan_error(storage, config, instant, "its file is missing") from None
    except CorruptTableError as error:
        raise damaged_plan_error(storage, config, instant, error) from error
    if not isinstance(plan, CompactionPlan):
        raise damaged_plan_error(storage, config, instant, "its file holds none")
    try:
        for operation in plan.operations or ():
            _ = operation.group
    except CorruptTableError as error:
        raise damaged_plan_error(storage, config, instant, error) from None
    return plan
