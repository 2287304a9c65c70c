"""From the user's rows to keyed rows by partition: schema, record keys, partition paths, one row a key.

Nothing is written here, and everything that can be wrong with the data is found here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import KeyFieldError, UnsupportedError
from pyhudi.index.rows import deletes_of
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.record_context import record_context_of
from pyhudi.kernels.keys.key_kernels import key_columns, keys_of, partition_paths
from pyhudi.keygen.choose_generator import KeyGenerator, key_generator
from pyhudi.keygen.user import UserKeys
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.schema.evolve import conform, evolve
from pyhudi.schema.internal.schema_history import history_of, reconciled, with_history
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.input.data_columns import MissingColumns, check_columns, log_widened

_CHUNK_ROWS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The data columns of a table, in Arrow (with the history of the schema if there is one) and as its commits spell them in Avro."""

    columns: pa.Schema
    avro_json: str


def evolve_schema(table: TableSchema, data: pa.Schema, config: TableConfig, missing: MissingColumns | None = None) -> TableSchema:
    """Return the table's schema after a write of data with this schema; the same value when nothing changes.

    Args:
        table: the table's schema before the write.
        data: the data's columns, without meta columns.
        config: the table's.
        missing: what is done with columns that the data lack; None for rows that need not have all, such as those of an UPDATE.

    Raises:
        KeyFieldError: the data lack a column that says which records they are, and may lack none.
        SchemaError: a column is missing, cannot be stored, does not fit, or has a reserved name.
        UnsupportedError: the table leaves partition columns out of its files, and its schema has a history.
    """
    if missing is MissingColumns.REFUSED:
        require_columns(data, config.record_key_fields, "a record key field", config)
        require_columns(data, config.partition_fields, "a partition field", config)
        require_columns(data, config.ordering_fields, "an ordering field", config)
    if missing is not None:
        check_columns(table.columns, data, missing, config.name)
    if config.drop_partition_columns:
        return _evolve_except_path_columns(table, data, config)
    columns = evolve(
        table.columns,
        data,
        key_fields=config.record_key_fields,
        partition_fields=config.partition_fields,
        ordering_fields=config.ordering_fields,
    )
    if columns.equals(table.columns):
        return table
    log_widened(table.columns, columns, config.name)
    history = history_of(table.columns)
    if history is not None:
        columns = with_history(columns, reconciled(history, columns))
    return TableSchema(columns, arrow_to_avro(columns, config.name))


def _evolve_except_path_columns(table: TableSchema, data: pa.Schema, config: TableConfig) -> TableSchema:
    """Return the schema after a write to a table whose files leave the partition columns out: of these the paths tell no type."""
    stored = _in_files(table.columns, config)
    if history_of(stored) is not None:
        raise UnsupportedError(f"table {config.name} has a schema history, and files without partition columns: that is not served.")
    columns = evolve(stored, _in_files(data, config), key_fields=config.record_key_fields, ordering_fields=config.ordering_fields)
    # The schema that a table is made with has the partition columns, those of its commits have them no more.
    recorded = {field["name"] for field in json.loads(table.avro_json)["fields"]}
    avro_json = table.avro_json if columns.equals(stored) and recorded <= set(columns.names) else arrow_to_avro(columns, config.name)
    in_paths = (field for field in table.columns if field.name in config.partition_fields)
    return with_path_columns(TableSchema(pa.schema([*columns, *in_paths]), avro_json), data, config)


def with_path_columns(table: TableSchema, data: pa.Schema, config: TableConfig) -> TableSchema:
    """Return the schema with columns that are in paths alone in the types that the data have them in: the paths are made of these."""
    if not config.drop_partition_columns:
        return table
    given = {field.name.lower(): field.type for field in data if field.name.lower() in map(str.lower, config.partition_fields)}
    columns = [field.with_type(given.get(field.name.lower(), field.type)) for field in table.columns]
    return TableSchema(pa.schema(columns, metadata=table.columns.metadata), table.avro_json)


def _in_files(columns: pa.Schema, config: TableConfig) -> pa.Schema:
    dropped = {name.lower() for name in config.partition_fields} if config.drop_partition_columns else set()
    return pa.schema([field for field in columns if field.name.lower() not in dropped], metadata=columns.metadata)


def record_context(schema: TableSchema, config: TableConfig) -> RecordContext:
    """Return what tasks must know of the table.

    Raises:
        UnsupportedError: the table merges records by a class that is not known here.
    """
    columns = _in_files(schema.columns, config)
    context = record_context_of(config, columns, with_meta_fields(schema.avro_json))
    in_paths = tuple(field for field in schema.columns if field.name not in columns.names)
    return replace(context, path_columns=in_paths) if in_paths else context


def require_columns(data: pa.Schema, fields: Iterable[str], role: str, config: TableConfig) -> None:
    """Refuse data that lack a column which the table needs.

    Raises:
        KeyFieldError: names the column; `role` says what it is to the table.
    """
    for field in fields:
        if not _holds(data, field):
            raise KeyFieldError(
                f"The data lack the column '{field}', {role} of table {config.name}; they have {', '.join(data.names) or 'none'}."
            )


def _holds(data: pa.Schema, field: str) -> bool:
    """Tell whether data have a column, which a dotted name finds in structs; what is no struct there is for `conform` to refuse."""
    inner: Iterable[pa.Field] = data
    for part in field.lower().split("."):
        match = next((known for known in inner if known.name.lower() == part), None)
        if match is None:
            return False
        if not pa.types.is_struct(match.type):
            return True
        inner = match.type
    return True


def keyed_rows(data: pa.Table, schema: pa.Schema, config: TableConfig, instant: str) -> pa.Table:
    """Return the data in the columns of the table, led by record key and partition path.

    Raises:
        KeyFieldError: a record key is null or empty, or a partition value is not allowed.
        SchemaError: a value does not fit its column.
    """
    rows = conform(data, schema)
    keys, paths = _key_columns(rows, key_generator(config, instant=instant))
    return rows.add_column(0, PARTITION_PATH, paths).add_column(0, RECORD_KEY, keys)


def _key_columns(rows: pa.Table, generator: KeyGenerator) -> tuple[pa.StringArray | pa.ChunkedArray, pa.DictionaryArray]:
    """Return the columns of `key_columns`; the keys of many rows are made in chunks, on several threads.

    One array of them all would be memory that the kernel clears for it alone: that took a fifth of a load of 20 million rows.
    """
    if rows.num_rows <= _CHUNK_ROWS or isinstance(generator, UserKeys):
        return key_columns(rows, generator)

    def keys_from(row: int) -> pa.StringArray:
        return keys_of(rows.slice(row, _CHUNK_ROWS), generator, row)

    chunks = LocalEngine().run(keys_from, range(0, rows.num_rows, _CHUNK_ROWS))
    return pa.chunked_array(chunks), partition_paths(rows, generator.layout)


def keyed_deletes(data: pa.Table, schema: pa.Schema, config: TableConfig, instant: str) -> pa.Table:
    """Return deletes of the records that the data name; beyond keys and partition values only users' generators look.

    Raises:
        KeyFieldError: a record key is null or empty, or a partition value is not allowed.
        SchemaError: a value does not fit its column.
    """
    is_users = config.key_generator.family is KeyGeneratorType.USER_PROVIDED
    needed = {name.lower() for name in (data.column_names if is_users else config.naming_columns)}
    columns = pa.schema([field.with_nullable(True) for field in schema if field.name.lower() in needed])
    named = keyed_rows(data, columns, config, instant)
    return deletes_of(named.column(RECORD_KEY)).append_column(PARTITION_PATH, named.column(PARTITION_PATH))


def require_unique(keyed: pa.Table, option: str) -> None:
    """Refuse keys that occur twice in the data of one partition.

    Raises:
        KeyFieldError: names a key and the option that would have kept one row of it.
    """
    names = pa.table({name: keyed.column(name).cast(pa.string()) for name in (PARTITION_PATH, RECORD_KEY)})
    counts = names.group_by([PARTITION_PATH, RECORD_KEY]).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts.column("count_all"), 1))
    if repeated.num_rows:
        key = repeated.column(RECORD_KEY)[0]
        raise KeyFieldError(f"The record key '{key}' occurs more than once in the data, and {option} is false.")
