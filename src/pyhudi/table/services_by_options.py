"""The table services with the settings that options give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_options import index_options
from pyhudi.index.resolve_index import has_fixed_buckets
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.service.cleaning.clean_settings import clean_settings
from pyhudi.service.cleaning.cleaning_service import Cleaning
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.clustering.clustering_settings import clustering_settings
from pyhudi.service.clustering.update_strategy import update_settings
from pyhudi.service.compaction.compaction_service import Compaction
from pyhudi.service.compaction.compaction_settings import compaction_settings
from pyhudi.service.service_executor import Service
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options, merge_options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.concurrency import ConcurrencyMode, concurrency_mode, without_buckets
from pyhudi.write.options.non_blocking import check_mode
from pyhudi.write.options.validate_options import check_agreement


def service_options(storage: Storage, options: Mapping[str, str] | None) -> Options:
    """Return the options of a service's call, and those of `hudi-defaults.conf`.

    Raises:
        OptionError: one is of no effect or wrong, or contradicts the table, as another table's name and a mode for buckets do.
        UnsupportedError: the table cannot be written in the concurrency mode that is stated.

    Example:
        >>> service_options(table.storage, {"hoodie.table.name": "u"})
        Traceback (most recent call last):
        ...
        pyhudi.errors.OptionError: hoodie.table.name=u contradicts table trips, whose .hoodie/hoodie.properties says ...
    """
    resolved = resolve(merge_options(default_write_options(), options or {}))
    if any(concerns_table(name) for name in resolved.given):
        check_agreement(resolved, TableConfig(load_properties(storage)))
    if resolved.get(MODE) is not None:
        _check_mode(resolved, storage, TableConfig(load_properties(storage)))
    return resolved


def _check_mode(options: Options, storage: Storage, config: TableConfig) -> None:
    check_mode(options, config)
    if concurrency_mode(options) is not ConcurrencyMode.NON_BLOCKING or index_options(options).name is not None:
        return
    view = FileSystemView(storage, config, load_timeline(storage, config))
    if any(view.latest_slices(path) for path in view.partition_paths()) and not has_fixed_buckets(view):
        raise without_buckets(storage.uri)


def cleaning(options: Options) -> Cleaning:
    """Return cleaning."""
    return Cleaning(clean_settings(options), metadata_settings(options))


def clustering(options: Options) -> Clustering:
    """Return clustering; the strategy of updates, which concerns writes alone, is checked nevertheless."""
    update_settings(options)
    return Clustering(clustering_settings(options))


def compaction(today: date, options: Options) -> Compaction:
    """Return compaction; some strategies go by the present day."""
    return Compaction(compaction_settings(options, today))


def log_compaction(today: date, options: Options) -> Compaction:
    """Return log compaction."""
    return replace(compaction(today, options), action=Action.LOG_COMPACTION)


def service_of(storage: Storage, today: date, requested: str) -> Service[Any] | None:
    """Return the service whose pending plan has a requested time and can be rolled back; None when there is none."""
    config = TableConfig(load_properties(storage))
    timeline = load_timeline(storage, config)
    for make in (partial(compaction, today), partial(log_compaction, today), clustering):
        service: Service[Any] = make(resolve({}))
        if any(one.requested == requested for one in service.pending(storage, config, timeline)):
            return service
    return None
