"""The synchronisation of a table with the catalogs that its options name. Rules: `HoodieSyncTool`, `HiveSyncTool.doSync`."""

from __future__ import annotations

import contextlib
import logging

from pyhudi.errors import CatalogError, HudiError
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.sync.catalog_sync import CatalogSync
from pyhudi.sync.entry_changes import same_location, with_advice_on_names
from pyhudi.sync.open_catalog import catalog_name, open_catalog
from pyhudi.sync.storage_partitions import TableState
from pyhudi.sync.sync_result import SyncedTable, SyncResult
from pyhudi.sync.sync_settings import DATABASE, CatalogKind, SyncSettings, sync_settings
from pyhudi.sync.table_description import qualified
from pyhudi.sync.table_sync import TableSync
from pyhudi.timeline_archive.full_timeline import load_full_timeline

_log = logging.getLogger(__name__)


def sync_table(storage: Storage, options: Options) -> tuple[SyncResult, ...]:
    """Synchronise a table with its catalogs, all of them also when one fails.

    Args:
        storage: the table.
        options: `hoodie.datasource.hive_sync.*` and `hoodie.meta.sync.*`.

    Returns:
        One result for each catalog.

    Raises:
        OptionError: an option is wrong, contradicts another, or needs a package that is not installed.
        UsageError: the extractor cannot take the path of a partition.
        CatalogError: a catalog does not answer or refuses; what it got so far stays, and the next sync continues.
    """
    config = TableConfig(load_properties(storage))
    settings = sync_settings(options, config)
    results: list[SyncResult] = []
    errors: list[HudiError] = []
    for kind in settings.catalogs:
        try:
            results.append(_sync_catalog(storage, settings.of_catalog(kind), kind))
        except HudiError as error:
            if not options.flag("hoodie.datasource.hive_sync.ignore_exceptions"):
                errors.append(error)
                continue
            _log.warning("table %s is not synchronised with %s: %s", storage.uri, catalog_name(settings, kind), error)
            results.append(SyncResult(catalog_name(settings, kind), settings.database, None, (), error=str(error)))
    for other in errors[1:]:
        errors[0].add_note(f"another catalog failed too: {other}")
    if errors:
        raise errors[0]
    return tuple(results)


def _sync_catalog(storage: Storage, settings: SyncSettings, kind: CatalogKind | str) -> SyncResult:
    use_metadata_table = settings.options.flag("hoodie.meta.sync.metadata_file_listing")
    state = first = TableState(storage, settings.config, load_full_timeline(storage, settings.config), use_metadata_table)
    tables: list[SyncedTable] = []
    leftovers: tuple[str, ...] = ()
    with contextlib.closing(open_catalog(settings, kind)) as catalog:
        _check_database(catalog, settings)
        for name, read_optimized in settings.names():
            table, state = TableSync(catalog, settings, name, read_optimized).run(state)
            first = first if tables else state  # a later one may know more commits
            tables.append(table)
        if any(table.action != "unchanged" for table in tables):
            leftovers = _leftovers(catalog, settings, qualified(settings.with_location(storage.uri)))
    last = first.timeline.last_completed()
    instant = None if last is None else last.requested
    return SyncResult(catalog_name(settings, kind), settings.database, instant, tuple(tables), leftovers=leftovers)


def _leftovers(catalog: CatalogSync, settings: SyncSettings, location: str) -> tuple[str, ...]:
    """Return, and log, the catalog's entries of this table that no sync brings up to date: its type or the strategy has changed."""
    current = {name for name, _ in settings.names()}
    names = [name for name in (f"{settings.table}_ro", f"{settings.table}_rt") if name not in current]
    entries = {name: catalog.table(name) for name in names}
    left = [name for name, entry in entries.items() if entry and entry.is_hudi and same_location(entry.location, location)]
    if left:
        _log.warning(
            "the catalog has %s, of an earlier type or strategy of the table at %s, which no sync updates: drop them from the catalog",
            ", ".join(f"{settings.database}.{name}" for name in left),
            location,
        )
    return tuple(left)


def _check_database(catalog: CatalogSync, settings: SyncSettings) -> None:
    if catalog.has_database():
        return
    if not settings.options.flag("hoodie.datasource.hive_sync.auto_create_database"):
        raise CatalogError(
            f"the catalog has no database {settings.database}: create it, or set hoodie.datasource.hive_sync.auto_create_database=true"
        )
    try:
        catalog.create_database()
    except CatalogError as error:
        raise with_advice_on_names(error, DATABASE) from error
