"""Compaction after a commit, when the options of the write ask for it and it is due; log compaction comes after compaction."""

from __future__ import annotations

from pyhudi.service.compaction.compaction_service import Compaction
from pyhudi.service.compaction.compaction_settings import compaction_settings
from pyhudi.service.compaction.compaction_trigger import compaction_is_due
from pyhudi.service.inline_run import InlineRun, WrittenTable, inline_run
from pyhudi.service.run_mode import RunMode
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.clock import Clock, format_instant, zone_of


def check_compaction_options(options: Options, config: TableConfig, clock: Clock) -> None:
    """See before a write to a merge-on-read table that the compaction after it can be had; errors as in `compaction_settings`."""
    if config.is_merge_on_read:
        compaction_settings(options, clock.now().date())


def compact_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the compaction, or else the log compaction, that is to be planned or run."""
    if not table.config.is_merge_on_read:
        return None
    now = table.runner.clock.now()
    settings = compaction_settings(table.options, now.date())

    def is_due() -> bool:
        return compaction_is_due(table.timeline, settings, format_instant(now, zone_of(table.config.timeline_zone)))

    work, mode = inline_run(Compaction(settings), table, settings.mode, is_due), settings.mode
    if work is not None or not settings.log_inline or mode is RunMode.SCHEDULE:
        return work
    logs = Compaction(settings, Action.LOG_COMPACTION)
    return inline_run(logs, table, mode if mode is RunMode.BACKGROUND else RunMode.INLINE, lambda: True)
