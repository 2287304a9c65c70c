"""What a user asks for, as the definition of an index.

Rules: `HoodieSparkIndexClient`, `HoodieIndexUtils`; `CREATE INDEX` of Hudi's SQL reference;
docs/format/metadata-table.md#index-definitions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError, UnsupportedError, UsageError, did_you_mean
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import index_version_of, value_type
from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION, IndexDefinition
from pyhudi.metadata_table.format.index_expressions import FUNCTIONS, IDENTITY, NUMBERS, Expression
from pyhudi.metadata_table.format.metadata_keys import is_servable
from pyhudi.schema.field_paths import type_at
from pyhudi.service.indexes.check_index import BLOOM_OPTIONS, check_arguments, check_bloom_options, check_length, refuse_unknown_options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion

SECONDARY_INDEX = "secondary_index"
_EXPRESSION_TYPES = (partitions.COLUMN_STATS, partitions.BLOOM_FILTERS)
_TYPES = (SECONDARY_INDEX, partitions.RECORD_INDEX, *_EXPRESSION_TYPES)
_BY_PARTITION = "isPartitioned"
#: Partitions that are asked for by their own names alone; options of writes make them as well.
_WHOLE = (partitions.COLUMN_STATS, partitions.PARTITION_STATS, partitions.BLOOM_FILTERS)
_ARGUMENTS = ("format", *NUMBERS, ZONE_OPTION)
_NEEDED = {"date_format": ("format",), "substring": ("pos", "len"), "date_add": ("days",), "date_sub": ("days",)}
_NAME = re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """An index as a user asks for it.

    Attributes:
        name: what it is called; `record_index` is the one of record keys.
        columns: the columns it is of, names into structs parted by dots.
        using: its type: `column_stats` or `bloom_filters` of an expression, None for a secondary index.
        options: `expr` and its arguments, options of bloom filters.
        zone: the time zone in which an expression takes timestamps for days.
    """

    name: str
    columns: tuple[str, ...]
    using: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"

    @property
    def is_whole(self) -> bool:
        """True for statistics or bloom filters of all columns that have some."""
        return self.name in _WHOLE and not self.columns and self.using is None and not self.options

    @property
    def type(self) -> str:
        """The type of the index."""
        if self.using:
            return self.using.lower()
        return partitions.RECORD_INDEX if self.name == partitions.RECORD_INDEX else SECONDARY_INDEX

    @property
    def partition(self) -> str:
        """Its partition of the metadata table."""
        if self.is_whole or self.type == partitions.RECORD_INDEX:
            return self.name if self.is_whole else partitions.RECORD_INDEX
        return _with_prefix(self.name, partitions.SECONDARY_PREFIX if self.type == SECONDARY_INDEX else partitions.EXPRESSION_PREFIX)


def check_whole(request: IndexRequest, config: TableConfig) -> None:
    """Refuse statistics of partitions where a table can have none.

    Raises:
        UsageError: the table has no partitions.
        UnsupportedError: tables of that version or type have no such statistics.
    """
    if request.name != partitions.PARTITION_STATS:
        return
    if config.version < TableVersion.EIGHT:
        raise UnsupportedError(f"table {config.name} has version {config.version}, whose tables have no partition_stats; 8 and 9 have")
    if not config.partition_fields:
        raise UsageError(f"table {config.name} has no partitions, and so no partition_stats")
    if config.is_merge_on_read:
        raise UnsupportedError(
            f"table {config.name} is merge-on-read: of rows in log files nothing is known, and Apache Hudi takes a partition without "
            "partition_stats for one without matching rows, once another one has some"
        )


def partition_of(name: str, known: Collection[str]) -> str:
    """Return the partition of the metadata table that a user calls so.

    Raises:
        UsageError: there is no such index.
    """
    for candidate in (name, partitions.SECONDARY_PREFIX + name, partitions.EXPRESSION_PREFIX + name):
        if candidate in known:
            return candidate
    raise UsageError(f"there is no index '{name}'; there are {', '.join(sorted(known)) or 'none'}")


def definition_of(request: IndexRequest, config: TableConfig, schema: pa.Schema) -> IndexDefinition:
    """Return the definition of the index that is asked for.

    Raises:
        UsageError: its name, type or options are wrong.
        UnsupportedError: tables of that version have no such index.
        SchemaError: a column does not exist, or has a type that the index cannot be made of.
    """
    _check_name(request)
    if request.type not in _TYPES:
        raise UsageError(f"an index of type '{request.using}' is unknown.{did_you_mean(request.type, _TYPES)}")
    if request.type == partitions.RECORD_INDEX:
        return _record_index(request, config)
    check_length(request.name, request.partition)
    if config.version < TableVersion.EIGHT:
        kind_text = "secondary" if request.type == SECONDARY_INDEX else "expression"
        raise UnsupportedError(f"table {config.name} has version {config.version}, whose tables have no {kind_text} indexes; 8 and 9 have")
    if len(request.columns) != 1:
        raise UsageError(
            f"index '{request.name}' is of {len(request.columns)} columns; {request.type} indexes are of one. Without columns there are "
            f"{', '.join((partitions.RECORD_INDEX, *_WHOLE))}"
        )
    field_name = _as_the_table_has_it(request.columns[0], schema)
    kind = _column_type(schema, field_name, config.name)
    if request.type == SECONDARY_INDEX:
        _check_stored(request, config, field_name)
        return _secondary_index(request, config, field_name, kind)
    return _expression_index(request, config, field_name, kind)


def _check_name(request: IndexRequest) -> None:
    """Refuse a name that is none, or that of something else: it could not be told which is to be dropped.

    Raises:
        UsageError: says what the name is of.
    """
    name = request.name
    if name.lower() == partitions.FILES:
        raise UsageError("files is the list of files that every metadata table has; index(rebuild=True) rebuilds it, with all indexes")
    if name.lower() in _WHOLE:
        raise UsageError(f"{name} is of all columns: give it none, no type and no options, or give an index of columns another name")
    if name.lower() == partitions.RECORD_INDEX and request.type != name:
        raise UsageError(f"{name} is that of the record keys; give an index of type {request.type} another name")
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name of an index: letters, digits and underscores make one")


def _column_type(schema: pa.Schema, name: str, table: str) -> pa.DataType:
    """Return the type of a column, which a dotted name finds in structs.

    Raises:
        SchemaError: there is no such column.
    """
    kind = type_at(schema, name)
    if kind is None:
        raise SchemaError(f"table {table} has no column '{name}'.{did_you_mean(name, schema.names)}")
    return kind


def _as_the_table_has_it(name: str, schema: pa.Schema) -> str:
    """Return a column's name with the case that its table has; SQL does not mind it."""
    head, dot, rest = name.partition(".")
    alike = [column for column in schema.names if column.lower() == head.lower()]
    return f"{alike[0]}{dot}{rest}" if head not in schema.names and len(alike) == 1 else name


def _record_index(request: IndexRequest, config: TableConfig) -> IndexDefinition:
    fields = tuple(config.record_key_fields)
    if request.columns and fields and {name.lower() for name in request.columns} != {name.lower() for name in fields}:
        raise UsageError(f"the record index is of the record key ({', '.join(fields)}), not of {', '.join(request.columns)}")
    by_partition = str(request.options.get(_BY_PARTITION, "false")).lower()
    if by_partition == "true" and not config.partition_fields:
        raise UsageError("a table without partitions has no record index by partition")
    if by_partition == "true" and config.version < TableVersion.NINE:
        raise UsageError(f"tables of version {config.version} have no record index by partition")
    refuse_unknown_options(request.name, request.options, (_BY_PARTITION,))
    return IndexDefinition(partitions.RECORD_INDEX, partitions.RECORD_INDEX, "", (), {_BY_PARTITION: by_partition}, 1)


def _check_stored(request: IndexRequest, config: TableConfig, name: str) -> None:
    if config.drop_partition_columns and name in config.partition_fields:
        raise UnsupportedError(
            f"index '{request.name}' is of '{name}', a partition column that the files of table {config.name} do not have "
            "(hoodie.datasource.write.drop.partition.columns=true): paths find its values without an index"
        )


def _secondary_index(request: IndexRequest, config: TableConfig, name: str, kind: pa.DataType) -> IndexDefinition:
    if not is_servable(kind):
        raise SchemaError(
            f"column '{name}' has type {kind}; secondary indexes are of strings, whole and floating point numbers, dates and timestamps"
        )
    refuse_unknown_options(request.name, request.options, ())
    return IndexDefinition(request.partition, SECONDARY_INDEX, IDENTITY, (name,), {}, index_version_of(config.version))


def _expression_index(request: IndexRequest, config: TableConfig, name: str, kind: pa.DataType) -> IndexDefinition:
    function = str(request.options.get("expr") or request.options.get("func") or "").lower()
    if not function:
        raise UsageError(f"index '{request.name}' needs the option expr: the function of '{name}' it is of, or '{IDENTITY}'")
    options = {key: str(value) for key, value in request.options.items() if key != "func"} | {"expr": function}
    is_bloom = request.type == partitions.BLOOM_FILTERS
    if function not in FUNCTIONS:
        raise UsageError(f"index '{request.name}': the function '{function}' is not served.{did_you_mean(function, FUNCTIONS)}")
    refuse_unknown_options(request.name, request.options, ("expr", "func", *_ARGUMENTS, *(BLOOM_OPTIONS if is_bloom else ())))
    if missing := [option for option in _NEEDED.get(function, ()) if option not in options]:
        raise UsageError(f"index '{request.name}': {function} needs the option '{missing[0]}'")
    check_arguments(request.name, options)
    if is_bloom:
        check_bloom_options(request.name, options)
    result_type = Expression(function, {ZONE_OPTION: request.zone, **options}).result_type(kind)
    if result_type is None:
        raise SchemaError(f"index '{request.name}': {function} of '{name}', which has type {kind}, is not served with these options")
    if not (pt.is_string(result_type) if is_bloom else value_type(result_type, index_version_of(config.version)) is not None):
        raise SchemaError(f"index '{request.name}': {request.type} cannot be of {function}('{name}'), which has type {result_type}")
    if Expression(function, options).result_type(kind) is None:
        options[ZONE_OPTION] = request.zone
        check_arguments(request.name, options)
    return IndexDefinition(request.partition, request.type, function, (name,), options, index_version_of(config.version))


def _with_prefix(name: str, prefix: str) -> str:
    return name if name.startswith(prefix) else prefix + name
