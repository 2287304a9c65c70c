"""What the options of a write decide, in one value. Rules: the `hoodie.*` keys of Apache Hudi 1.2
(`pyhudi.spec.options`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.index.index_factory import check_virtual_keys
from pyhudi.index.index_options import GLOBAL_SIMPLE, IndexOptions, index_options
from pyhudi.index.index_options import TYPE as _INDEX
from pyhudi.kernels.base_file.base_file import LogSettings, WriterSettings
from pyhudi.markers.marker_settings import MarkerSettings, marker_settings
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings, metadata_settings
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.options import Options
from pyhudi.spec.table.key_generator import KeyGeneratorType, parse_key_generator
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.txn.concurrency import SINGLE_WRITER, Concurrency, concurrency
from pyhudi.txn.conflicts.early_detection import EarlyDetection, early_detection
from pyhudi.txn.failed_writes_policy import EAGER, FailedWritesSettings, failed_writes_settings
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata, rolling_metadata
from pyhudi.write.input.data_columns import MissingColumns, missing_columns
from pyhudi.write.input.stated_columns import stated_columns
from pyhudi.write.options.bulk_layout import BulkLayout, bulk_layout
from pyhudi.write.options.non_blocking import check_non_blocking
from pyhudi.write.options.validate_options import check_agreement
from pyhudi.write.options.validators import Validators, validators_of
from pyhudi.write.tagging.tag import KeyRules

MAX_FILE_ROWS: Final = "pyhudi.parquet.max.file.rows"
EVENT_TIME_FIELD: Final = "hoodie.payload.event.time.field"
_TRACKS_EVENT_TIMES = "hoodie.write.track.event.time.watermark"
_DUPLICATES = "hoodie.merge.allow.duplicate.on.inserts"
_DROP_DUPLICATES, _DUPLICATE_POLICY = "hoodie.datasource.write.insert.drop.duplicates", "hoodie.datasource.insert.dup.policy"
_GENERATOR = "hoodie.datasource.write.keygenerator.type"
_COMBINE = {Operation.UPSERT: "hoodie.combine.before.upsert", Operation.DELETE: "hoodie.combine.before.delete"}
#: The number of Spark tasks of an operation (`HoodieWriteHelper`, `HoodieDeleteHelper`); all others have that of an insert.
_TASKS_OF_INSERT: Final = "hoodie.insert.shuffle.parallelism"
_TASKS: Final = {
    Operation.UPSERT: "hoodie.upsert.shuffle.parallelism",
    Operation.UPSERT_PREPPED: "hoodie.upsert.shuffle.parallelism",
    Operation.DELETE: "hoodie.delete.shuffle.parallelism",
    Operation.DELETE_PREPPED: "hoodie.delete.shuffle.parallelism",
    Operation.BULK_INSERT: "hoodie.bulkinsert.shuffle.parallelism",
}
#: Hudi's names of codecs that Parquet calls otherwise.
_CODECS = {"lz4": "lz4_raw", "none": "uncompressed"}
_CODEC: Final = "hoodie.parquet.compression.codec"
_BLOCK_FORMAT: Final = "hoodie.logfile.data.block.format"
#: Defaults by `pyhudi.write.readers`; other values of it leave the defaults of the keys.
_OF_READERS: Final = {"any": {_CODEC: "snappy", _BLOCK_FORMAT: "avro"}}
_BLOCK_TYPES = {"avro": BlockType.AVRO, "parquet": BlockType.PARQUET}


@dataclass(frozen=True, slots=True)
class WriteConfig:
    """How to write: files, keys, packing, waiting. `size_threshold` is the share of the small-file limit that a
    commit must have written for its record size to be believed; of a merge-on-read table `small_file_candidates` base
    files of a partition take new records. `rules` say what happens to rows of one key, `index` what the options say of the index, which
    `pyhudi.index.resolve_index` resolves. `extra_metadata` go into the metadata of the commit, `bulk` is the layout of a bulk insert.
    Table services of the write read their own options from `options`. `instant` is the time of a write whose time the format has fixed.
    Statistics state the event times of `event_time_field`; with `commits_empty` a write that changes nothing makes a commit; `rolling`
    says which entries of the metadata each commit takes over from the one before. `stated_columns` are those that data are written in
    (`pyhudi.write.input.stated_columns`). Spark looks keys up in `shuffle_tasks` tasks, None for as many as the rows come in.
    """

    options: Options
    writer: WriterSettings
    rules: KeyRules
    index: IndexOptions
    lock_wait_s: float
    size_threshold: float
    small_file_candidates: int
    metadata_table: MetadataSettings
    missing_columns: MissingColumns = MissingColumns.REFUSED
    extra_metadata: Mapping[str, str] = field(default_factory=dict)
    bulk: BulkLayout = field(default_factory=BulkLayout)
    validators: Validators = field(default_factory=Validators)
    failed_writes: FailedWritesSettings = EAGER
    markers: MarkerSettings = field(default_factory=MarkerSettings)
    concurrency: Concurrency = SINGLE_WRITER
    early_detection: EarlyDetection | None = None
    instant: str | None = None
    event_time_field: str | None = None
    commits_empty: bool = False
    rolling: RollingMetadata = NOT_ROLLING
    stated_columns: pa.Schema | None = None
    shuffle_tasks: int | None = None


def effective_operation(operation: Operation, options: Options, config: TableConfig) -> Operation:
    """Return what an operation with some options is: an insert that allows no duplicates is an upsert, unless a policy says otherwise.

    Apache Hudi looks for a key only in the base file that takes the inserts; here the index says where it is.

    Example:
        >>> effective_operation(Operation.INSERT, Options({"hoodie.merge.allow.duplicate.on.inserts": "false"}), table.config)
        <Operation.UPSERT: 'UPSERT'>
    """
    if operation is not Operation.INSERT or not config.record_key_fields or options.flag(_DUPLICATES) or _policy(options) != "none":
        return operation
    return Operation.UPSERT


def choose(options: Options, config: TableConfig, operation: Operation) -> WriteConfig:
    """Return what the options decide for an operation on a table.

    Raises:
        OptionError: an option contradicts the table or has a value it cannot have.
        UnsupportedError: the index or operation that an option names is not served.
    """
    if operation is Operation.DELETE:
        options = _everywhere(options, config)
    check_agreement(options, config)
    combine_option = _COMBINE.get(operation, "hoodie.combine.before.insert")
    policy = _policy(options) if operation is Operation.INSERT else "none"
    drop_known, fail_known = policy == "drop", policy == "fail"
    index_settings, sharing = index_options(options), concurrency(options)
    check_virtual_keys(index_settings, config)
    if sharing.is_non_blocking:
        check_non_blocking(config, operation, index_settings)
    rules = KeyRules(
        operation=operation,
        precombine=options.flag(combine_option) or drop_known,
        combine_option=combine_option,
        drop_known=drop_known or fail_known,
        fail_known=fail_known,
        retains_deletes=sharing.is_non_blocking and not operation.deletes_rows,
    )
    return WriteConfig(
        options=options,
        writer=writer_settings(options),
        rules=rules,
        index=index_settings,
        lock_wait_s=options.integer("hoodie.write.lock.wait_time_ms") / 1000,
        size_threshold=options.number("hoodie.record.size.estimation.threshold"),
        small_file_candidates=options.integer("hoodie.merge.small.file.group.candidates.limit"),
        metadata_table=metadata_settings(options),
        missing_columns=missing_columns(options),
        extra_metadata=options.extra_metadata,
        bulk=bulk_layout(options) if operation is Operation.BULK_INSERT else BulkLayout(),
        validators=validators_of(options),
        failed_writes=failed_writes_settings(options),
        markers=marker_settings(options),
        concurrency=sharing,
        early_detection=early_detection(options),
        event_time_field=_event_time_field(options),
        commits_empty=options.flag("hoodie.allow.empty.commit"),
        rolling=rolling_metadata(options),
        stated_columns=stated_columns(options),
        shuffle_tasks=options.integer(_TASKS.get(operation, _TASKS_OF_INSERT)) or None,
    )


def _event_time_field(options: Options) -> str | None:
    """Return the field of event times, None where they are not tracked.

    Raises:
        OptionError: they are to be tracked, and no field is named.
    """
    if not options.flag(_TRACKS_EVENT_TIMES):
        return None
    field_name = options.text(EVENT_TIME_FIELD).strip()
    if not field_name:
        raise OptionError(f"{_TRACKS_EVENT_TIMES}=true needs a field with event times: set {EVENT_TIME_FIELD}.")
    return field_name


def _policy(options: Options) -> str:
    """Return what an insert does with rows whose key the table holds: `none` (keeps both), `drop` or `fail`."""
    drops = options.flag(_DROP_DUPLICATES)
    return options.text(_DUPLICATE_POLICY, default="drop" if drops else "none").lower()


def _everywhere(options: Options, config: TableConfig) -> Options:
    """Return the options of a delete with the key generator GLOBAL_DELETE, on a table of another one, as what it means: an index that
    looks into all partitions.

    Raises:
        OptionError: the options name an index that does not.
    """
    generator = options.get(_GENERATOR)
    if generator is None or parse_key_generator(generator).family is not KeyGeneratorType.GLOBAL_DELETE:
        return options
    if config.key_generator.family is KeyGeneratorType.GLOBAL_DELETE:
        return options
    given = {name: value for name, value in options.given.items() if name != _GENERATOR}
    index = given.setdefault(_INDEX, GLOBAL_SIMPLE)
    if not index.upper().startswith("GLOBAL") and index.upper() != "RECORD_INDEX":
        raise OptionError(f"{_GENERATOR}={generator} deletes keys in any partition, and {_INDEX}={index} asks but one; leave it out.")
    return Options(given)


def _max_file_rows(options: Options) -> int | None:
    """Return how many rows a file is planned for at most; None where a size in bytes is given, which is obeyed."""
    if options.get("hoodie.parquet.max.file.size") is not None and options.get(MAX_FILE_ROWS) is None:
        return None
    return options.integer(MAX_FILE_ROWS) or None


def writer_settings(options: Options) -> WriterSettings:
    """Return how files are written; what no option says is as `WriterSettings` has it.

    Raises:
        OptionError: a codec is not served.
    """
    defaults = _OF_READERS.get(options.text("pyhudi.write.readers").lower(), {})
    codec = options.text(_CODEC, default=defaults.get(_CODEC)).lower()
    return WriterSettings(
        compression=_CODECS.get(codec, codec),
        max_file_bytes=options.integer("hoodie.parquet.max.file.size"),
        small_file_bytes=options.integer("hoodie.parquet.small.file.limit"),
        max_file_rows=_max_file_rows(options),
        small_file_stated=options.get("hoodie.parquet.small.file.limit") is not None,
        row_group_bytes=options.integer("hoodie.parquet.block.size"),
        page_bytes=options.integer("hoodie.parquet.page.size"),
        dictionary=options.flag("hoodie.parquet.dictionary.enabled"),
        bloom_enabled=options.flag("hoodie.parquet.bloom.filter.enabled"),
        bloom_type=options.text("hoodie.bloom.index.filter.type").upper(),
        bloom_entries=options.integer("hoodie.index.bloom.num_entries"),
        bloom_fits=options.get("hoodie.index.bloom.num_entries") is None,
        bloom_fpp=options.number("hoodie.index.bloom.fpp"),
        bloom_max_entries=options.integer("hoodie.bloom.index.filter.dynamic.max.entries"),
        log=LogSettings(
            block_type=_BLOCK_TYPES[options.text(_BLOCK_FORMAT, default=defaults.get(_BLOCK_FORMAT)).lower()],
            block_bytes=options.integer("hoodie.logfile.data.block.max.size"),
            file_bytes=options.integer("hoodie.logfile.max.size"),
            positions=options.flag("hoodie.write.record.positions"),
        ),
    )
