"""A scan of files that were written before columns were widened.

Rules: `HoodieParquetFileFormatHelper` (a file's columns are cast to the table's types). Spark's reader widens some types by itself and
refuses others; a float as a double it reads with other digits than Apache Hudi. Numbers that are floats or doubles today are converted
inside of the reader (`java/hudi/WidenedFormat.java`), which a hidden partition column tells in which form a file has them. Files with
other columns that Spark does not read right get a scan of their own under the types that they have, and a projection to today's.
Design: docs/design/0187-options-of-reads-and-casts.md.

Only footers tell the types. They are looked at, one of each commit, where the table's oldest schema leaves open whether a column was ever
widened: types of a table never become narrower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql.types import StructField, StructType

from pyhudi.cache import LruCache
from pyhudi.codec.actions.archived_v1 import ARCHIVE_FILE
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.promoted_rows import promoted_type
from pyhudi.spark.jvm.spark_types import spark_type
from pyhudi.spark.scan.converted_numbers import NATIVE, is_converted, structs_of_forms
from pyhudi.spark.scan.float_sql import double_of_text, exact_double
from pyhudi.spark.scan.partition_columns import partition_columns
from pyhudi.spec.files.bootstrap_source import is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_commit_metadata

#: The types as which a scan has the data columns of a file, and those that the format of the scan reads them as.
_Types: TypeAlias = tuple[pa.DataType, ...]
_THREADS: Final = 16
#: Files never change, nor does the first commit of a table: schemas of files, and of the first commit by the first active instant.
_FILES: LruCache[tuple[str, str, int], pa.Schema] = LruCache(1 << 14)
_OLDEST: LruCache[tuple[str, str], str] = LruCache(1 << 10)


@dataclass(frozen=True, slots=True)
class PromotedPart:
    """The files whose columns have the same types, as far as Spark does not read them under the table's.

    `columns` are the table's data columns with those types, `values` SQL for each of them, which needs `with_powers` for `floats`. `keys`
    are those of files or commits that are here; files of no other part are with the one that `is_today`. `forms` tells by file or commit
    what the column `FORM` holds where the reader converts columns: the number of a struct of `narrower`, from 1 on; 0 elsewhere.
    """

    columns: pa.Schema
    values: tuple[tuple[str, str], ...]
    keys: frozenset[str]
    narrower: StructType
    forms: Mapping[str, int]
    is_today: bool = False
    floats: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """A text that differs between the parts of a table."""
        text = repr((self.is_today, sorted(self.keys), self.columns.to_string(), self.narrower.json(), sorted(self.forms.items())))
        return f"types {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def holds(self, file: BaseFile) -> bool:
        """Tell whether a file belongs to the part."""
        return self.is_today != (file.path in self.keys or file.name.instant in self.keys)

    def form_of(self, file: BaseFile) -> int:
        """Return what `FORM` is for a file of the part."""
        return self.forms.get(file.path) or self.forms.get(file.name.instant, 0)


def promoted_parts(snapshot: Snapshot) -> list[PromotedPart]:
    """Return the parts in which a table without a history of its schema is scanned; none when Spark reads all its files right.

    The part of today comes last.

    Raises:
        CorruptTableError: a file whose types are looked at is damaged or missing.
    """
    columns = snapshot.schema.remove_metadata()
    today = tuple(columns.types)
    in_files = _columns_of_files(columns, snapshot.config)
    if not any(_may_be_promoted(columns.field(name).type) for name in in_files) or _was_never_widened(snapshot, columns):
        return []
    scans: dict[_Types, set[str]] = {}
    readers: dict[_Types, set[str]] = {}
    for key, types in _stored_types(snapshot, columns, in_files):
        triples = [(stored, table, is_converted(stored, table)) for stored, table in zip(types, today, strict=True)]
        scanned = tuple(table if converted else stored for stored, table, converted in triples)
        read = tuple(stored if converted else table for stored, table, converted in triples)
        scans.setdefault(scanned, set()).add(key)
        readers.setdefault(read, set()).add(key)
    scans.pop(today, None)
    readers.pop(today, None)
    if not scans and not readers:
        return []
    narrower = structs_of_forms(list(readers), columns)
    forms = {key: number for number, keys in enumerate(readers.values(), 1) for key in keys}
    parts = [_part(columns, types, frozenset(keys), narrower, forms) for types, keys in scans.items()]
    others = frozenset().union(*(part.keys for part in parts))
    values = tuple((name, quote_name(name)) for name in columns.names)
    return [*parts, PromotedPart(columns, values, others, narrower, forms, is_today=True)]


def _part(columns: pa.Schema, types: _Types, keys: frozenset[str], narrower: StructType, forms: Mapping[str, int]) -> PromotedPart:
    stored = pa.schema([field.with_type(kind).with_nullable(True) for field, kind in zip(columns, types, strict=True)])
    floats: list[str] = []
    values = tuple(
        (field.name, _promote_column(quote_name(field.name), kind, field.type, floats)) for field, kind in zip(columns, types, strict=True)
    )
    return PromotedPart(stored, values, keys, narrower, forms, floats=tuple(floats))


def _may_be_promoted(table: pa.DataType) -> bool:
    """Tell whether Spark might not read a narrower type as this one."""
    if pt.is_nested(table):
        return any(_may_be_promoted(table.field(index).type) for index in range(table.num_fields))
    return bool(pt.is_floating(table) or pt.is_string(table))


def _was_never_widened(snapshot: Snapshot, columns: pa.Schema) -> bool:
    oldest = snapshot.config.create_schema_json or _oldest_schema(snapshot)
    if oldest is None:
        return False
    known = {field.name: field.type for field in avro_to_arrow(oldest)}
    return all(known.get(field.name) == field.type for field in columns)


def _oldest_schema(snapshot: Snapshot) -> str | None:
    """Return the schema of the first commit of all; None when it is not known."""
    timeline = snapshot.timeline
    key = (snapshot.storage.uri, next((one.requested for one in timeline.instants), ""))
    known = _OLDEST.get(key)
    if known is None and not _has_lost_history(snapshot):
        oldest = next(iter(timeline.with_archived().data_instants()), None)
        known = None if oldest is None else load_commit_metadata(snapshot.storage, snapshot.config, timeline, oldest).schema_json
        if known is not None:
            _OLDEST.put(key, known)
    return known


def _has_lost_history(snapshot: Snapshot) -> bool:
    """Tell whether the first commit may be one that is not told of any more, or is in an archive of layout 1."""
    archive = snapshot.timeline.archive
    if archive is not None:
        return not archive.is_whole
    return any(ARCHIVE_FILE.fullmatch(status.name) for status in snapshot.storage.list(snapshot.config.archive_path))


def _columns_of_files(columns: pa.Schema, config: TableConfig) -> frozenset[str]:
    """Return the names of the columns whose values Spark reads from the files, and not from the partition paths."""
    fields = StructType([StructField(field.name, spark_type(field.type, field.name)) for field in columns])
    return frozenset(columns.names) - frozenset(partition_columns(fields, config).names)


def _stored_types(snapshot: Snapshot, columns: pa.Schema, in_files: frozenset[str]) -> Iterator[tuple[str, _Types]]:
    """Yield, for each commit or file, the types as which Spark shall read its columns."""
    instants = snapshot.timeline.with_archived().data_instants()
    replaced = {instant.requested for instant in instants if instant.action is Action.REPLACE_COMMIT}
    samples: dict[str, BaseFile] = {}
    for path in snapshot.partition_paths:
        for one in snapshot.slices(path):
            if one.base is not None:
                # A clustering may put row groups of several schemas together as they are; sources of skeletons have any schemas.
                instant = one.base.name.instant
                key = one.base.path if instant in replaced or is_skeleton(instant) else instant
                samples.setdefault(key, one.base)
    schemas = LocalEngine(_THREADS).run(lambda file: _footer_schema(snapshot.storage, file), list(samples.values()))
    for key, stored in zip(samples, schemas, strict=True):
        shared = in_files & set(stored.names)
        types = tuple(_read_as(stored.field(one.name).type, one.type) if one.name in shared else one.type for one in columns)
        yield key, types


def _footer_schema(storage: Storage, file: BaseFile) -> pa.Schema:
    key = (storage.uri, file.path, file.size)
    known = _FILES.get(key)
    if known is None:
        with open_data(storage, file.path) as parquet:
            known = parquet.schema_arrow.remove_metadata()
        _FILES.put(key, known)
    return known


def _read_as(stored: pa.DataType, table: pa.DataType) -> pa.DataType:
    """Return the table's type with the plain types in it that a file has and Spark does not read under the table's."""
    if pt.is_struct(stored) and pt.is_struct(table):
        return pa.struct([_field_read_as(stored, field) for field in table])
    if pt.is_list(stored) and pt.is_list(table):
        return pa.list_(table.value_field.with_type(_read_as(stored.value_type, table.value_type)))
    if pt.is_map(stored) and pt.is_map(table):
        return pa.map_(table.key_type, table.item_field.with_type(_read_as(stored.item_type, table.item_type)))
    is_native = (stored, table) in NATIVE or pt.is_decimal(table) or promoted_type(stored, table).equals(stored)
    return table if is_native else stored


def _field_read_as(stored: pa.StructType, field: pa.Field) -> pa.Field:
    index = stored.get_field_index(field.name)
    return field if index < 0 else field.with_type(_read_as(stored.field(index).type, field.type))


def _promote_column(value: str, stored: pa.DataType, table: pa.DataType, floats: list[str], depth: int = 0) -> str:
    """Return SQL that turns a value of a file's type into the table's, and add the floats that it computes doubles of."""
    if stored.equals(table):
        return value
    if pt.is_struct(table):
        pairs = ((field.name, stored.field(index).type, field.type) for index, field in enumerate(table))
        parts = (f"{text(name)}, {_promote_column(f'{value}.{quote_name(name)}', old, new, floats, depth)}" for name, old, new in pairs)
        return f"IF({value} IS NULL, NULL, named_struct({', '.join(parts)}))"
    item = f"_x{depth}"
    if pt.is_list(table):
        return f"transform({value}, {item} -> {_promote_column(item, stored.value_type, table.value_type, floats, depth + 1)})"
    if pt.is_map(table):
        inner = _promote_column(item, stored.item_type, table.item_type, floats, depth + 1)
        return f"transform_values({value}, (_k{depth}, {item}) -> {inner})"
    if pt.is_float32(stored) and pt.is_float64(table):
        return double_of_text(value) if depth else exact_double(value, floats)
    return f"CAST({value} AS {spark_type(table, '').simpleString()})"


def quote_name(name: str) -> str:
    """Return a name as SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """Return a text as SQL has it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
