"""Archiving the timelines of a table: on request (`table.services.archive`, the command line) and after a write that makes it due."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from pyhudi.errors import HudiError, LockTimeoutError
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.read.snapshot.identity_check import check_identity
from pyhudi.service.archival import ArchivalResult, archival_settings, archive, is_due
from pyhudi.spec.options import Options, resolve
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.transaction import Committed, Transaction

_log = logging.getLogger(__name__)


def archive_timelines(
    storage: Storage, clock: Clock, ids: Ids, options: Mapping[str, str], *, dry_run: bool, wait_s: float
) -> ArchivalResult:
    """Archive what may be archived; see `Services.archive` for errors."""
    resolved = resolve(options)
    settings = archival_settings(resolved)
    with locked_table(storage, wait_s, clock, ids) as table:
        check_identity(table.storage, table.config, table.timeline)
        return archive(table, settings, metadata_settings(resolved), dry_run=dry_run)


def archive_after(txn: Transaction, committed: Committed | None, options: Options) -> None:
    """Archive the timelines of the table of a finished transaction when that is due. The lock must be free.

    What goes wrong is logged, not raised: the write is committed. Where another writer holds the lock it is left to that one.
    """
    settings = archival_settings(options)
    if committed is None or not settings.automatic:
        return
    table = txn.table
    timeline = replace(table.timeline, instants=(*table.timeline.instants, committed.instant))
    try:
        if not is_due(table.storage, table.config, timeline, settings):
            return
        with locked_table(table.storage, 0, table.clock, table.ids) as locked:
            _log.info("table %s: %s", table.storage.uri, archive(locked, settings, metadata_settings(options)))
    except LockTimeoutError:
        _log.info("nothing is archived after the write to table %s: another writer is at work", table.storage.uri)
    except (HudiError, OSError) as error:
        _log.warning("the write to table %s is committed, archiving failed and is left to the next one: %s", table.storage.uri, error)
