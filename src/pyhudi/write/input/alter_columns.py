"""What ALTER TABLE makes of a table's schema, and which changes a table allows.

Without `hoodie.schema.on.read.enable` files are read by the names of their columns: columns can be added at the end, described, made
nullable, and widened as data of a wider type widen them. With it columns get numbers, once and for all, and may be
renamed, dropped, moved and given other types, too. Rules: `AlterTableCommand`, `AlterHoodieTableAddColumnsCommand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import pyarrow as pa

from pyhudi.errors import SchemaError, UnsupportedError
from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.schema.evolve import same_key_strings, same_order
from pyhudi.schema.internal import schema_change as change
from pyhudi.schema.internal.as_arrow import arrow_type, data_columns, first_version
from pyhudi.schema.internal.internal_schema import InternalSchema, walk
from pyhudi.schema.internal.schema_change import Path, Position
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of, with_history
from pyhudi.schema.meta_columns import IS_DELETED, check_name, is_meta_column
from pyhudi.schema.promoted_rows import promoted_type
from pyhudi.schema.storable import storable_type
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import DROP_PARTITION_COLUMNS
from pyhudi.write.input.prepare_rows import TableSchema

SCHEMA_ON_READ = "hoodie.schema.on.read.enable"


@dataclass(frozen=True, slots=True)
class _OfColumn:
    path: Path


@dataclass(frozen=True, slots=True)
class AddColumn(_OfColumn):
    """Add a nullable column; `position` None is the end, `""` the beginning, else the column before it."""

    type: pa.DataType
    doc: str | None = None
    position: Position = None


@dataclass(frozen=True, slots=True)
class DropColumn(_OfColumn):
    """Drop a column."""


@dataclass(frozen=True, slots=True)
class RenameColumn(_OfColumn):
    """Give a column another name."""

    name: str


@dataclass(frozen=True, slots=True)
class RetypeColumn(_OfColumn):
    """Give a column another type."""

    type: pa.DataType


@dataclass(frozen=True, slots=True)
class DescribeColumn(_OfColumn):
    """Give a column a comment."""

    doc: str


@dataclass(frozen=True, slots=True)
class MoveColumn(_OfColumn):
    """Put a column at the beginning (`""`) or after another one."""

    position: str


@dataclass(frozen=True, slots=True)
class AllowNull(_OfColumn):
    """Let a column hold nulls."""


Change: TypeAlias = AddColumn | DropColumn | RenameColumn | RetypeColumn | DescribeColumn | MoveColumn | AllowNull


def apply_changes(stored: TableSchema, changes: Sequence[Change], config: TableConfig, *, schema_on_read: bool) -> TableSchema:
    """Return a table's schema after some changes, in their order.

    Args:
        stored: the schema so far.
        changes: what to do.
        config: the table's configuration: its keys, partition and ordering fields stay as they are.
        schema_on_read: whether `hoodie.schema.on.read.enable` is on; once it was, it is for good.

    Raises:
        SchemaError: a column does not exist, or exists already, or cannot take the new type or position.
        UnsupportedError: the change needs `hoodie.schema.on.read.enable`, or the table leaves partition columns out of its files.
    """
    if config.drop_partition_columns:
        raise UnsupportedError(
            f"ALTER of table {config.name} is not served: its files leave the partition columns out ({DROP_PARTITION_COLUMNS}=true)."
            " A write that brings a new column adds it."
        )
    history = history_of(stored.columns)
    numbered = schema_on_read or history is not None
    if history is None:
        first = first_version(stored.columns)
        history = SchemaHistory((first,), first)
    for one in changes:
        _check(one, history.current, config, numbered=numbered)
    schema = reduce(lambda current, one: _apply_change(current, one, config), changes, history.current)
    if schema == history.current:
        return stored
    columns = data_columns(schema)
    if numbered:
        _check_known(schema, config)
        columns = with_history(columns, history.changed(schema))
    return TableSchema(columns, arrow_to_avro(columns, config.name))


def _check_known(schema: InternalSchema, config: TableConfig) -> None:
    """Refuse columns whose type Apache Hudi writes into the history of a schema, and then cannot read there."""
    for field in walk(schema.record):
        if isinstance(field.type, str) and field.type.startswith("local-timestamp"):
            raise UnsupportedError(
                f"Table {config.name} has the column {field.name} of type TIMESTAMP_NTZ, which Apache Hudi 1.2 cannot read from the"
                f" history of a schema: {SCHEMA_ON_READ} is not served for this table."
            )


def _apply_change(schema: InternalSchema, one: Change, config: TableConfig) -> InternalSchema:
    match one:
        case AddColumn(path, arrow, doc, position):
            retained = position if position is not None or len(path) > 1 else _before_partition_columns(schema, config)
            return change.add_column(schema, path, storable_type(arrow, ".".join(path)), doc=doc, position=retained)
        case DropColumn(path):
            return change.drop_column(schema, path)
        case RenameColumn(path, name):
            return change.rename_column(schema, path, name)
        case RetypeColumn(path, arrow):
            return change.retype_column(schema, path, storable_type(arrow, ".".join(path)))
        case DescribeColumn(path, doc):
            return change.describe_column(schema, path, doc)
        case MoveColumn(path, position):
            return change.move_column(schema, path, position)
        case AllowNull(path):
            return change.allow_null(schema, path)


def _before_partition_columns(schema: InternalSchema, config: TableConfig) -> Position:
    """Return where a new column goes: behind the last one that does not partition the table."""
    names = [field.name for field in schema.record.fields]
    partitioned_by = {name.lower() for name in config.partition_fields}
    while names and names[-1].lower() in partitioned_by:
        names.pop()
    return names[-1] if names else None


def _check_new_name(one: RenameColumn, name: str) -> None:
    if is_meta_column(one.name):
        raise SchemaError(f"{name} cannot become {one.name}: that is a column that Hudi fills itself. Take another name.")
    if len(one.path) > 1:
        return
    if one.name == IS_DELETED:
        raise SchemaError(f"{name} cannot become {IS_DELETED}: rows that hold true in it would count as deleted. Add that column again.")
    check_name(one.name)


def _check(one: Change, schema: InternalSchema, config: TableConfig, *, numbered: bool) -> None:
    name = ".".join(one.path)
    if is_meta_column(one.path[0]):
        raise SchemaError(f"{name} is a column that Hudi fills itself; it stays as it is.")
    if isinstance(one, AddColumn) and len(one.path) == 1:
        check_name(name)
    if isinstance(one, RenameColumn):
        _check_new_name(one, name)
    if isinstance(one, DropColumn | RenameColumn | RetypeColumn):
        _check_fixed(one, schema, config)
    if numbered:
        return
    if isinstance(one, AddColumn) and one.position is None and len(one.path) == 1:
        return
    if isinstance(one, DescribeColumn | AllowNull):
        return
    if isinstance(one, RetypeColumn) and _is_widened(one, schema):
        return
    raise UnsupportedError(
        f"{_action_of(one)} {name} of table {config.name} needs columns that have numbers: SET {SCHEMA_ON_READ} = true first; in Python it "
        "is an option of the call. From then on the table keeps the history of its schema, for good; readers that do not know it take "
        "columns by name."
    )


def _check_fixed(one: DropColumn | RenameColumn | RetypeColumn, schema: InternalSchema, config: TableConfig) -> None:
    """Refuse to touch what says where a record belongs or which one is newer: the table's properties call these columns by name."""
    for role, fields in (
        ("record key", config.record_key_fields),
        ("partition path", config.partition_fields),
        ("ordering", config.ordering_fields),
    ):
        if any(_within(field.split("."), one.path) for field in fields):
            if isinstance(one, RetypeColumn) and _keeps_role(one, schema, role):
                continue
            raise SchemaError(f"{'.'.join(one.path)} of table {config.name} is part of its {role}: its name and type stay as they are.")


def _within(field: Iterable[str], path: Path) -> bool:
    lowered = tuple(part.lower() for part in field)
    return lowered[: len(path)] == tuple(part.lower() for part in path)


def _keeps_role(one: RetypeColumn, schema: InternalSchema, role: str) -> bool:
    """Tell whether a column of another type names and orders records as before."""
    old, new = arrow_type(schema.find(one.path).type), storable_type(one.type, ".".join(one.path))
    if role == "ordering":
        return same_order(old, new)
    return same_key_strings(old, new) and (role == "record key" or pa.types.is_integer(new))


def _is_widened(one: RetypeColumn, schema: InternalSchema) -> bool:
    """Tell whether files of the old type are read as the new one without numbers."""
    old, new = arrow_type(schema.find(one.path).type), storable_type(one.type, ".".join(one.path))
    return bool(promoted_type(old, new) == new)


def _action_of(one: Change) -> str:
    words = {DropColumn: "dropping", RenameColumn: "renaming", RetypeColumn: "changing the type of", MoveColumn: "moving"}
    return words.get(type(one), "adding at a place of its own the column")
