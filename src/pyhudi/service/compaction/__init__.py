"""Compaction: log files become base files again. Plan, run, and know what is due after a write."""

from __future__ import annotations

from pyhudi.service.compaction.compaction_result import CompactionResult, planned_result
from pyhudi.service.compaction.compaction_rollback import cancel
from pyhudi.service.compaction.compaction_settings import CompactionSettings, RunMode, compaction_settings
from pyhudi.service.compaction.execute_compaction import CompactionRunner, execute
from pyhudi.service.compaction.pending_compactions import find_pending, pending_compactions
from pyhudi.service.compaction.schedule_compaction import build_plan, schedule

__all__ = [
    "CompactionResult",
    "CompactionRunner",
    "CompactionSettings",
    "RunMode",
    "build_plan",
    "cancel",
    "compaction_settings",
    "execute",
    "find_pending",
    "pending_compactions",
    "planned_result",
    "schedule",
]
