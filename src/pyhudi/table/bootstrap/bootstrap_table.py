"""Makes a table of the Parquet files of a folder.

Rules: RFC-12, `SparkBootstrapCommitActionExecutor`; docs/format/bootstrap.md, docs/design/0119-bootstrap.md. Partitions whose data stay in
the source are one commit, of a fixed instant; those that are copied are another one, after it. What an interrupted bootstrap left is rolled
back, and the same call makes what is missing.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from pyhudi.codec.actions.bootstrap_codec import render_index
from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, CorruptTableError, KeyFieldError, TableExists, TableNotFound, UnsupportedError, UsageError
from pyhudi.fsview.bootstrap_index import FILE_INDEX, PARTITION_INDEX
from pyhudi.index.index_options import BLOOM, GLOBAL_BLOOM
from pyhudi.kernels.tasks.skeleton_task import SkeletonSettings, SkeletonTask, run_skeleton_task
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.locks.choose_lock import hold_lock, with_lock_provider
from pyhudi.metadata_table.format.metadata_settings import AS_IT_IS
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.inline_sync import check_sync_options, sync_committed
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.extra_metadata import ENGINE_KEY, WRITER_KEY
from pyhudi.spec.files.bootstrap_source import BOOTSTRAP_INSTANTS, FULL_BOOTSTRAP, METADATA_BOOTSTRAP, PartitionSources
from pyhudi.spec.options import resolve
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import BOOTSTRAP_BASE_PATH
from pyhudi.storage.local_storage import missing_folders, real_uri, remove_empty_folders
from pyhudi.storage.open_storage import open_source_folder
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.bootstrap.bootstrap_settings import (
    BASE_PATH,
    SELECTOR,
    BootstrapMode,
    BootstrapSettings,
    split_options,
)
from pyhudi.table.bootstrap.copied_rows import SourceTagger
from pyhudi.table.bootstrap.source_listing import SourceListing, list_source
from pyhudi.table.create_new_table import create_table
from pyhudi.table.open_table import OpenTable
from pyhudi.table.remove_rename import delete_table
from pyhudi.table.write_pipeline import write_rows
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.concurrency import SINGLE_WRITER
from pyhudi.txn.release import VERSION
from pyhudi.txn.transaction import begin
from pyhudi.write.options.write_config import WriteConfig, choose
from pyhudi.write.pipeline.write_stage import WriteRequest

#: Threads that write skeletons: on object stores they wait for answers, on a local disk they take processors from one another.
_MOST_THREADS: Final = 16
_LEAST_THREADS: Final = 4
_WAIT_S: Final = 60.0
_OF_FILTERS: Final = (
    "hoodie.parquet.bloom.filter.enabled",
    "hoodie.bloom.index.filter.type",
    "hoodie.index.bloom.num_entries",
    "hoodie.index.bloom.fpp",
    "hoodie.bloom.index.filter.dynamic.max.entries",
)
_FILTERS_OF_METADATA: Final = "hoodie.metadata.index.bloom.filter.enable"


@dataclass(frozen=True, slots=True)
class NewTable:
    """What a bootstrapped table is to be; the fields are the arguments of `HudiTable.create`."""

    name: str
    keys: Sequence[str]
    partition_by: Sequence[str]
    order_by: Sequence[str]
    table_type: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A bootstrap that was checked: the settings, the source as it was given, and the table, for whose writes `options` are."""

    settings: BootstrapSettings
    base_path: str
    definition: NewTable
    options: Mapping[str, str]

    @classmethod
    def of(cls, source: str | None, definition: NewTable) -> Bootstrap:
        """Return a bootstrap of a source, which the options may name as well.

        Raises:
            UsageError: no source is named, or two; an option is wrong.
            UnsupportedError: an option asks for what is not served.
        """
        settings, stated, options = split_options(definition.options)
        if source is not None and stated is not None and source.rstrip("/") != stated.rstrip("/"):
            raise UsageError(f"the source is {source} and {BASE_PATH} is {stated}: give one of them")
        base_path = source or stated
        if not base_path:
            raise UsageError(f"a bootstrap needs the folder of the Parquet files: {BASE_PATH}")
        if not definition.keys:
            raise KeyFieldError("a bootstrap needs record key fields, by which later writes find the rows")
        of_table = {name: value for name, value in options.items() if concerns_table(name)}
        return cls(settings, base_path.rstrip("/") or "/", replace(definition, options=of_table), options)


def bootstrap_table(
    storage: Storage, bootstrap: Bootstrap, clock: Clock, open_table: Callable[[], OpenTable], engine: Engine | None = None
) -> None:
    """Create a table and bootstrap it; where an interrupted bootstrap has created it, make the commits that are missing.

    Args:
        storage: where the table is to be.
        bootstrap: what to do.
        clock: tells the time of the creation.
        open_table: opens the table once it is there.
        engine: writes the skeletons; threads of this process by default, as many as `hoodie.bootstrap.parallelism` allows.

    Raises:
        TableExists: there is a table that is no interrupted bootstrap of the same source.
        UsageError: the source is no folder of Parquet files, one of source and table is in the other, or a file does not fit.
        CorruptTableError: a source file is damaged, or changed while it was read.
        ConflictError: another writer holds the table, or wrote to it.
        UnknownOutcomeError: the storage failed in the last step of a commit and does not say whether that is visible.
    """
    source = open_source_folder(storage, bootstrap.base_path)
    _check_apart(source, storage)
    is_begun, missing = _is_begun(storage, bootstrap), missing_folders(storage)
    most = _MOST_THREADS if "://" in storage.uri else max(_LEAST_THREADS, LocalEngine().threads)
    threads = LocalEngine(min(bootstrap.settings.parallelism, most))
    definition = bootstrap.definition
    listing = list_source(source, threads, [*definition.keys, *definition.partition_by])
    if not is_begun:
        create_table(
            storage,
            listing.schema,
            name=definition.name,
            keys=definition.keys,
            partition_by=definition.partition_by,
            order_by=definition.order_by,
            table_type=definition.table_type,
            options=definition.options,
            clock=clock,
            bootstrap_path=bootstrap.base_path,
        )
    try:
        table = open_table()
        check_sync_options(resolve(bootstrap.options), table.config)
        _commit_missing(table, bootstrap, listing, engine or threads)
    except (UsageError, UnsupportedError, CorruptTableError):
        if not is_begun:
            _delete_invisible(storage)
            remove_empty_folders(missing)
        raise
    sync_committed(storage, resolve(bootstrap.options))


def _commit_missing(table: OpenTable, bootstrap: Bootstrap, listing: SourceListing, engine: Engine) -> None:
    completed = {one.requested for one in load_timeline(table.storage, table.config).data_instants()}
    missing = []
    for mode, instant, commit in (
        (BootstrapMode.METADATA_ONLY, METADATA_BOOTSTRAP, _commit_skeletons),
        (BootstrapMode.FULL_RECORD, FULL_BOOTSTRAP, _commit_copies),
    ):
        chosen = {path: files for path, files in listing.partitions.items() if bootstrap.settings.mode_of(path) is mode}
        if chosen and instant not in completed:
            missing.append((commit, replace(listing, partitions=chosen)))
    if not missing:
        raise _there_is_a_table(table.storage)
    if not table.config.populate_meta_fields and missing[0][0] is _commit_skeletons:
        raise UnsupportedError(
            "hoodie.populate.meta.fields=false is for tables without record keys in their files, and a skeleton is a file of record keys:"
            f" leave it out, or copy the data, with {SELECTOR}=FullRecordBootstrapModeSelector"
        )
    for commit, some in missing:
        commit(table, bootstrap, some, engine)


def _check_apart(source: Storage, table: Storage) -> None:
    one, other = (f"{real_uri(storage).rstrip('/')}/" for storage in (source, table))
    if one.startswith(other) or other.startswith(one):
        raise UsageError(
            f"the source {source.uri} and the table {table.uri} must be two folders, none of them in the other: the"
            " files of a table are not those of its source"
        )


def _is_begun(storage: Storage, bootstrap: Bootstrap) -> bool:
    """Tell whether the first commit of the same bootstrap is there; what one left that was cut off before is deleted.

    Raises:
        TableExists: there is another table.
        LockTimeoutError: the bootstrap is under way in another process.
    """
    try:
        config = TableConfig(load_properties(storage))
    except TableNotFound:
        return False
    definition = bootstrap.definition
    stated = (bootstrap.base_path, definition.name, tuple(definition.keys), tuple(definition.partition_by))
    stored = (config.properties.get(BOOTSTRAP_BASE_PATH), config.name, tuple(config.record_key_fields), tuple(config.partition_fields))
    with hold_lock(storage, _WAIT_S):
        completed = {one.requested for one in load_timeline(storage, config).data_instants()}
        if stated != stored or completed - BOOTSTRAP_INSTANTS:
            raise _there_is_a_table(storage)
        if not completed:
            delete_table(storage)
    return bool(completed)


def _there_is_a_table(storage: Storage) -> TableExists:
    return TableExists(f"There is a Hudi table at {storage.uri} already; bootstrap into another path, or delete the table first.")


def _delete_invisible(storage: Storage) -> None:
    """Delete a table that was created for a bootstrap which was refused, unless something of it is visible."""
    with hold_lock(storage, _WAIT_S):
        if not load_timeline(storage, TableConfig(load_properties(storage))).data_instants():
            delete_table(storage)


def _config(table: OpenTable, bootstrap: Bootstrap, instant: str) -> WriteConfig:
    """Return how the commits of a bootstrap are written; as in Apache Hudi, the metadata table is made by the first write after it."""
    config = choose(resolve(bootstrap.options), table.config, Operation.BULK_INSERT)
    return replace(config, instant=instant, metadata_table=AS_IT_IS, concurrency=SINGLE_WRITER)


def _commit_skeletons(table: OpenTable, bootstrap: Bootstrap, listing: SourceListing, engine: Engine) -> None:
    config = _config(table, bootstrap, METADATA_BOOTSTRAP)
    partitions, tasks = _planned(table, bootstrap, listing)
    with begin(
        with_lock_provider(table.storage, config.options),
        Operation.BOOTSTRAP,
        wait_s=config.lock_wait_s,
        clock=table.clock,
        ids=table.ids,
        roll_back=functools.partial(roll_back_failed_writes, settings=config.failed_writes, writes=True),
        extra_metadata=config.extra_metadata,
        version=table.config.version,
        failed_writes=config.failed_writes,
        instant=METADATA_BOOTSTRAP,
    ) as txn:
        _check_begun_here(txn.table.timeline.data_instants(), table)
        stored = table_schema(txn.table.storage, txn.table.config, txn.table.timeline)
        generator = key_generator(table.config, instant=METADATA_BOOTSTRAP)
        columns, filters = _key_columns(table.config, stored.columns), _filters_keys(config)
        settings = SkeletonSettings(table.config.name, stored.columns, generator, columns, config.writer, filters)
        txn.start(None, schema_json=stored.avro_json)
        results = engine.run(functools.partial(run_skeleton_task, table.storage, settings), tasks)
        created_ms = int(table.clock.now().timestamp() * 1000)
        by_partition, by_file = render_index(partitions, bootstrap.base_path, created_ms=created_ms, new_sync=table.ids.sync_marker)
        # An interrupted bootstrap may have left both.
        txn.table.storage.replace(PARTITION_INDEX, by_partition)
        txn.table.storage.replace(FILE_INDEX, by_file)
        txn.commit(results, schema_json=stored.avro_json, extra_metadata={WRITER_KEY: VERSION, ENGINE_KEY: engine.name})


def _filters_keys(config: WriteConfig) -> bool:
    """Tell whether the options speak of bloom filters, or of an index that asks them; else those of skeletons are saturated."""
    stated = any(config.options.get(name) is not None for name in _OF_FILTERS)
    return stated or config.index.name in (BLOOM, GLOBAL_BLOOM) or config.options.flag(_FILTERS_OF_METADATA)


def _check_begun_here(instants: Sequence[object], table: OpenTable) -> None:
    if instants:
        raise ConflictError(f"another writer has written to table {table.storage.uri}; a bootstrap is the first thing that a table gets.")


def _planned(table: OpenTable, bootstrap: Bootstrap, listing: SourceListing) -> tuple[list[PartitionSources], list[SkeletonTask]]:
    partitions: dict[str, PartitionSources] = {}
    tasks: list[SkeletonTask] = []
    for source_path, files in listing.partitions.items():
        path = bootstrap.settings.partition_path(source_path)
        if path in partitions:
            raise UsageError(f"the folders '{partitions[path].source_path}' and '{source_path}' both become the partition '{path}'")
        by_id = {table.ids.file_prefix(): file for file in files}
        partitions[path] = PartitionSources(path, source_path, by_id)
        tasks += [SkeletonTask(path, file_id, number, file) for number, (file_id, file) in enumerate(by_id.items(), len(tasks))]
    return list(partitions.values()), tasks


def _key_columns(config: TableConfig, schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that keys and partition paths are made of; all of them for a generator of the user's."""
    heads = {name.partition(".")[0].lower() for name in (*config.record_key_fields, *config.partition_fields)}
    named = tuple(name for name in schema.names if name.lower() in heads)
    return tuple(schema.names) if config.key_generator.family is KeyGeneratorType.USER_PROVIDED else named


def _commit_copies(table: OpenTable, bootstrap: Bootstrap, listing: SourceListing, engine: Engine) -> None:
    started = time.perf_counter()
    schema = table_schema(table.storage, table.config, load_timeline(table.storage, table.config)).columns
    copying = LocalEngine(min(engine.threads, LocalEngine().threads)) if isinstance(engine, LocalEngine) else engine  # rows in memory
    tagger = SourceTagger(tuple(listing.partitions.values()), schema, copying)
    write_rows(table, WriteRequest(Operation.BULK_INSERT), _config(table, bootstrap, FULL_BOOTSTRAP), tagger, started=started)
