"""Creating a table: its folders, and last the file that makes them a table.

Rules: `HoodieTableMetaClient.initTable`, folders as Apache Hudi 1.2.0 makes them. A creation that is cut off leaves
folders of ours and no
table: it can be done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from pyhudi.errors import AlreadyExistsError, KeyFieldError, OptionError, SchemaError, TableExists, UnsupportedError
from pyhudi.kernels.arrays.ordering_columns import check_orderable
from pyhudi.kernels.keys.key_kernels import key_columns
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.merge.choose_merger import merge_rule
from pyhudi.read.snapshot.read_schema import comes_back_from_paths
from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.schema.evolve import evolve
from pyhudi.spec.arguments import check_strings, check_text
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.key_settings import key_lines
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table.key_generator import parse_key_generator
from pyhudi.spec.table.merge_mode import parse_merge_mode
from pyhudi.spec.table.merge_properties import NewMerging
from pyhudi.spec.table.payload_class import MERGE_SETTINGS, parse_partial_mode
from pyhudi.spec.table.table_config import TableConfig, new_table_properties, parse_table_type
from pyhudi.spec.table.table_keys import (
    BOOTSTRAP_BASE_PATH,
    BOOTSTRAP_INDEX_TYPE,
    CDC_ENABLED,
    CDC_MODE,
    COMPLEX_KEY_ENCODING,
    DROP_PARTITION_COLUMNS,
)
from pyhudi.spec.table_features import check_writable
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.storage.table_properties import BACKUP, PROPERTIES, create_properties
from pyhudi.storage.temporary_files import is_left_over
from pyhudi.timeline.clock import Clock
from pyhudi.write.options.validate_options import check_agreement

TABLE_TYPE: Final = "hoodie.datasource.write.table.type"
#: Options that arguments of a creation state, by which argument.
ARGUMENTS: Final = {
    TABLE_TYPE: "table_type",
    "hoodie.table.name": "name",
    "hoodie.datasource.write.recordkey.field": "keys",
    "hoodie.datasource.write.partitionpath.field": "partition_by",
    "hoodie.table.ordering.fields": "order_by",
}
#: MarkLive for the instants of writes to come, where settings are tried out.
_ANY_INSTANT = "20260101000000000"
_LISTS: Final = frozenset({"keys", "partition_by", "order_by"})
_FOLDERS = (
    ".hoodie/.aux/.bootstrap/.fileids",
    ".hoodie/.aux/.bootstrap/.partitions",
    ".hoodie/.schema",
    ".hoodie/.temp",
)
#: Where old instants go, by timeline layout.
_ARCHIVES = {1: ".hoodie/archived", 2: ".hoodie/timeline/history"}
#: The lock's folder may be there as well.
_OUR_FOLDERS = (*_FOLDERS, *_ARCHIVES.values(), ".hoodie/.locks")


def create_table(
    storage: Storage,
    schema: pa.Schema,
    *,
    name: str,
    keys: Sequence[str],
    partition_by: Sequence[str],
    order_by: Sequence[str],
    table_type: str,
    options: Mapping[str, str],
    clock: Clock,
    bootstrap_path: str | None = None,
    replaces: bool = False,
) -> TableConfig:
    """Create a table at an empty path and return its configuration; `bootstrap_path` is that of the files that it is bootstrapped from.

    With `replaces` the path holds the data files of a table that this one is to replace.

    Raises:
        TableExists: a table is there, or files that are not ours.
        OptionError: an option is unknown or contradicts the arguments.
        SchemaError: a column cannot be stored.
        KeyFieldError: a key, partition or ordering field is no column.
        UnsupportedError: this release cannot write such a table.
    """
    check_text(name, "name")
    roles = {"keys": keys, "partition_by": partition_by, "order_by": order_by}
    fields = {role: check_strings(names, role, "column names") for role, names in roles.items()}
    if not isinstance(schema, pa.Schema):
        raise SchemaError(f"schema is of type {type(schema).__name__}; give a pyarrow.Schema, such as pa.schema({{'id': pa.int64()}}).")
    resolved = resolve(options)
    kind = parse_table_type(check_text(table_type, "table_type"))
    _check_about_table(resolved)
    _check_arguments(resolved, {"name": (name,), "table_type": (kind,), **fields})
    columns = evolve(None, schema)
    _check_fields(columns, fields)
    check_orderable(columns, order_by)
    properties = _properties(columns, name, kind, keys, partition_by, order_by, resolved)
    if TableConfig(properties).key_encoding_is_open:
        properties |= {COMPLEX_KEY_ENCODING: "FIELD_PREFIXED"}  # what Apache Hudi writes by default
    if bootstrap_path is not None:
        properties |= {BOOTSTRAP_BASE_PATH: bootstrap_path, BOOTSTRAP_INDEX_TYPE: "HFILE"}
    config = TableConfig(properties)
    check_writable(config)
    _check_left_out(columns, config)
    key_columns(columns.empty_table(), key_generator(config, instant=_ANY_INSTANT))
    merge_rule(config, frozenset(columns.names))
    check_agreement(resolved, config)
    if not replaces:
        _check_free(storage)
    for folder in (*_FOLDERS, _ARCHIVES[config.layout]):
        storage.make_dir(folder)
    try:
        create_properties(storage, properties, clock.now())
    except AlreadyExistsError as error:
        raise TableExists(f"Another writer has just created a table at {storage.uri}; open it.") from error
    return config


def _properties(
    columns: pa.Schema,
    name: str,
    table_type: str,
    keys: Sequence[str],
    partition_by: Sequence[str],
    order_by: Sequence[str],
    options: Options,
) -> dict[str, str]:
    generator = options.get("hoodie.datasource.write.keygenerator.type")
    version = options.integer("hoodie.write.table.version")
    return new_table_properties(
        name=name,
        table_type=table_type,
        version=version,
        database=options.text("hoodie.database.name"),
        record_key_fields=keys,
        partition_fields=partition_by,
        ordering_fields=order_by,
        merging=_merging(options),
        key_generator=parse_key_generator(generator) if generator else None,
        hive_style=options.flag("hoodie.datasource.write.hive_style_partitioning"),
        url_encode=options.flag("hoodie.datasource.write.partitionpath.urlencode"),
        create_schema_json=arrow_to_avro(columns, name),
        timeline_zone=options.text("hoodie.table.timeline.timezone").upper(),
        key_lines=key_lines(options, version),
        change_log_mode=options.text(CDC_MODE) if options.flag(CDC_ENABLED) else "",
    )


def _merging(options: Options) -> NewMerging:
    mode, partial = options.get("hoodie.record.merge.mode"), options.get("hoodie.table.partial.update.mode")
    return NewMerging(
        mode=parse_merge_mode(mode) if mode else None,
        payload_class=options.get("hoodie.datasource.write.payload.class"),
        strategy_id=options.get("hoodie.record.merge.strategy.id"),
        partial=parse_partial_mode(partial) if partial else None,
        settings={name: value for name in MERGE_SETTINGS if (value := options.get(name)) is not None},
    )


def _check_about_table(options: Options) -> None:
    for name in options.given:
        if not concerns_table(name):
            raise OptionError(f"{name} says nothing about the table itself; give it to the writes that it is for, as options={{...}}.")


def _check_arguments(options: Options, stated: Mapping[str, Sequence[str]]) -> None:
    """Refuse an option that says something else than the argument for it; the message names the argument."""
    for option, argument in ARGUMENTS.items():
        value = options.get(option)
        if value is None:
            continue
        requested = (parse_table_type(value),) if option == TABLE_TYPE else tuple(part.strip() for part in value.split(",") if part.strip())
        if requested != tuple(stated[argument]):
            example = list(requested) if argument in _LISTS else value
            raise OptionError(f"options say {option}={value}: the argument for it is {argument}={example!r}.")


def _check_fields(columns: pa.Schema, fields: Mapping[str, Sequence[str]]) -> None:
    for role, names in fields.items():
        for field in names:
            head = field.partition(":")[0].partition(".")[0]
            if head not in columns.names:
                raise KeyFieldError(f"{role} names '{field}', which is no column; the columns are {', '.join(columns.names)}.")
        if len(set(names)) < len(names):
            raise OptionError(f"{role} names a column twice: {', '.join(names)}.")


def _check_left_out(columns: pa.Schema, config: TableConfig) -> None:
    for field in config.partition_fields if config.drop_partition_columns else ():
        if not comes_back_from_paths(kind := columns.field(field).type):
            raise UnsupportedError(
                f"table {config.name} has {DROP_PARTITION_COLUMNS}=true and the partition column '{field}' of type {kind}, which would come"
                " back from the paths as text: leave the option out, or partition by a text, a whole number, a date or a boolean."
            )


def _check_free(storage: Storage) -> None:
    for path in (PROPERTIES, BACKUP):
        if storage.stat(path) is not None:
            raise TableExists(f"There is a Hudi table at {storage.uri} already; open it, or delete it first.")
    unknown = next(_foreign_files(storage), None)
    if unknown is not None:
        raise TableExists(
            f"{storage.uri} holds '{unknown.path}', which is no part of a new Hudi table. A table needs a place of its own:"
            " take another path."
        )


def _foreign_files(storage: Storage) -> Iterator[FileStatus]:
    """Yield what is at the path and was not left by a creation that was cut off."""
    for status in storage.list(""):
        if status.path == ".hoodie" and status.is_dir:
            yield from _foreign_files_below(storage, status.path)
        else:
            yield status


def _foreign_files_below(storage: Storage, folder: str) -> Iterator[FileStatus]:
    for status in storage.list(folder):
        is_ours = any(ours == status.path or ours.startswith(f"{status.path}/") for ours in _OUR_FOLDERS)
        if status.is_dir and is_ours:
            if status.path != ".hoodie/.locks":
                yield from _foreign_files_below(storage, status.path)
        elif not is_left_over(status.name):
            yield status
