"""Deleting the files of dropped partitions at once (`ALTER TABLE ... DROP PARTITION ... PURGE`)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.service.cleaning.clean_result import CleanResult
from pyhudi.service.cleaning.clean_settings import CleanPolicy, CleanSettings
from pyhudi.service.cleaning.cleaning_service import Cleaning
from pyhudi.service.cleaning.inline_cleaning import clean
from pyhudi.service.service_engine import ServiceRunner


def purge_partitions(runner: ServiceRunner, partitions: Sequence[str], metadata: MetadataSettings) -> tuple[CleanResult, ...]:
    """Clean some partitions of what was replaced in them, of whatever age; see `Services.purge`."""
    settings = CleanSettings(
        policy=CleanPolicy.KEEP_LATEST_FILE_VERSIONS,
        versions=sys.maxsize,  # what was not replaced stays
        trigger_commits=0,
        incremental=False,
        selected=tuple(partitions),
    )
    return clean(runner, Cleaning(settings, metadata))
