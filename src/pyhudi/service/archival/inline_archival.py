"""Archival after a commit, when it is due. Rules: `BaseHoodieTableServiceClient.archive`."""

from __future__ import annotations

from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.service.archival.archival_result import ArchivalResult
from pyhudi.service.archival.archival_settings import archival_settings
from pyhudi.service.archival.retained_by_cleaning import with_retention
from pyhudi.service.archival.run_archival import archive, is_due
from pyhudi.service.cleaning.clean_settings import clean_settings
from pyhudi.service.inline_run import InlineRun, WrittenTable


def archive_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the archival that is due; it waits for its turn like a write, since one that takes the free lock passes those who wait."""
    settings, runner = archival_settings(table.options), table.runner
    if not settings.automatic:
        return None
    cleaning = clean_settings(table.options)
    if cleaning.automatic:
        settings = with_retention(settings, cleaning, table.timeline, runner.clock.now(), table.config.timeline_zone)
    if not is_due(runner.storage, table.config, table.timeline, settings):
        return None

    def run() -> tuple[ArchivalResult]:
        with runner.locked() as locked:
            return (archive(locked, settings, metadata_settings(table.options)),)

    return InlineRun(run, settings.in_background)
