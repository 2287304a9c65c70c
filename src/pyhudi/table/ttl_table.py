"""Dropping expired partitions of a table, on request of a script, the command line or SQL."""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.errors import UsageError
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.partition_ttl import TtlResult, expire_partitions, ttl_settings
from pyhudi.service.partition_ttl.run_partition_ttl import show_expired
from pyhudi.service.partition_ttl.ttl_settings import check_days
from pyhudi.service.service_engine import service_runner
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.services_by_options import service_options
from pyhudi.timeline.clock import Clock, format_instant, zone_of
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.ids import Ids


def expire(storage: Storage, clock: Clock, ids: Ids, options: Mapping[str, str], *, dry_run: bool) -> TtlResult:
    """Drop the expired partitions of a table; see `Services.ttl` for errors."""
    resolved = service_options(storage, options)
    settings = ttl_settings(resolved)
    check_days(settings)
    config = TableConfig(load_properties(storage))
    if not config.partition_fields:
        raise UsageError(f"table {storage.uri} has no partition fields, so that no partition of it can expire")
    if not dry_run:
        return expire_partitions(service_runner(storage, clock, ids, resolved), settings, resolved)
    timeline = load_full_timeline(storage, config)
    check_notes(storage, config, timeline)
    now = format_instant(clock.now(), zone_of(config.timeline_zone))
    return show_expired(open_view(storage, config, timeline), settings, now)
