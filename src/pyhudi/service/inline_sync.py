"""The synchronisation with catalogs that a write does after its commit. Rules: `HoodieSparkSqlWriter.metaSync`.

It comes after all other services, whose commits may drop partitions.
"""

from __future__ import annotations

import logging

from pyhudi.errors import HudiError
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.sync.open_catalog import check_client
from pyhudi.sync.run_sync import sync_table
from pyhudi.sync.sync_settings import is_enabled, sync_settings

_log = logging.getLogger(__name__)


def check_sync_options(options: Options, config: TableConfig) -> None:
    """See before a write that the synchronisation after it can be had, as far as that is possible without the catalog.

    Raises:
        OptionError: an option is wrong, contradicts another, or needs a package that is not installed.
    """
    if is_enabled(options):
        settings = sync_settings(options, config)
        for kind in settings.catalogs:
            check_client(settings, kind)


def sync_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the synchronisation when the options of a write ask for it."""
    if not is_enabled(table.options):
        return None
    return InlineRun(lambda: sync_table(table.runner.storage, table.options))


def sync_committed(storage: Storage, options: Options) -> None:
    """Synchronise a table whose commit ran no services, when its options ask for it; what goes wrong is logged, as after a write."""
    if not is_enabled(options):
        return
    try:
        for result in sync_table(storage, options):
            _log.info("table %s: %s", storage.uri, result)
    except (HudiError, OSError) as error:
        _log.warning("table %s is committed, the synchronisation with catalogs failed and is left to the next one: %s", storage.uri, error)
