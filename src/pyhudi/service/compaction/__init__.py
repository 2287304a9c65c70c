"""Compaction: log files become base files again. Plan, run, and know what is due after a write."""

from __future__ import annotations

from pyhudi.service.compaction.execute import CompactionRunner, execute
from pyhudi.service.compaction.pending import find_pending, pending_compactions
from pyhudi.service.compaction.result import CompactionResult, planned_result
from pyhudi.service.compaction.schedule import planned, schedule
from pyhudi.service.compaction.settings import CompactionSettings, RunMode, compaction_settings
from pyhudi.service.compaction.take_back import cancel

__all__ = [
    "CompactionResult",
    "CompactionRunner",
    "CompactionSettings",
    "RunMode",
    "cancel",
    "compaction_settings",
    "execute",
    "find_pending",
    "pending_compactions",
    "planned",
    "planned_result",
    "schedule",
]
