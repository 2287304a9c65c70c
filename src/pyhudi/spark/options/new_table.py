"""What the options of a DataFrame write say about the table itself: name, keys, partitions, order, type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from pyhudi.errors import OptionError, SchemaError
from pyhudi.schema.evolve import evolve
from pyhudi.spec.config.config_keys import concerns_table, find_key
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import parse_table_type
from pyhudi.table.hudi_table import HudiTable
from pyhudi.write.options.validate_options import check_agreement


def _spellings(name: str) -> tuple[str, ...]:
    """Return all names of an option, the canonical one first."""
    key = find_key(name)
    assert key is not None, f"{name} is not listed in pyhudi.spec.config.config_keys"
    return (key.name, *key.aliases)


_NAME: Final = _spellings("hoodie.table.name")
_KEYS: Final = _spellings("hoodie.datasource.write.recordkey.field")
_PARTITIONS: Final = _spellings("hoodie.datasource.write.partitionpath.field")
_ORDER: Final = _spellings("hoodie.table.ordering.fields")
_TYPE: Final = _spellings("hoodie.datasource.write.table.type")
_ABOUT_THE_TABLE: Final = frozenset((*_NAME, *_KEYS, *_PARTITIONS, *_ORDER, *_TYPE))


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as a write describes it; `options` are the remaining options."""

    name: str
    keys: tuple[str, ...]
    partition_by: tuple[str, ...]
    order_by: tuple[str, ...]
    table_type: str
    options: Mapping[str, str]
    stated: frozenset[str]  # which of the above the options really say


def definition_of(options: Mapping[str, str], partition_by: tuple[str, ...], *, default_name: str | None = None) -> TableDefinition:
    """Return the definition that the options of a write state.

    Args:
        options: The `hoodie.*` options.
        partition_by: Columns of the writer's `partitionBy`, taken when no option names the partition fields.
        default_name: The table's name when no option gives one.

    Raises:
        OptionError: no name, or two spellings of one option with different values.
    """
    name = _one(options, _NAME) or default_name
    if not name:
        raise OptionError("hoodie.table.name is missing: a new table needs a name, as in .option('hoodie.table.name', 'trips').")
    partitions = _one(options, _PARTITIONS)
    return TableDefinition(
        name=name,
        keys=_fields(_one(options, _KEYS)),
        partition_by=_fields(partitions) if partitions is not None else partition_by,
        order_by=_fields(_one(options, _ORDER)),
        table_type=parse_table_type(_one(options, _TYPE) or "COPY_ON_WRITE"),
        options={key: value for key, value in options.items() if key not in _ABOUT_THE_TABLE},
        stated=frozenset(options) | ({_PARTITIONS[0]} if partition_by else frozenset()),
    )


def changed_definition(table: HudiTable, definition: TableDefinition, columns: pa.Schema) -> str | None:
    """Return what an overwrite would change of a table's definition, None when it replaces its rows only.

    What the options do not state stays as it is; columns that are wider than the table's, new or missing are no other definition.
    """
    config = table.config
    pairs = (
        ("name", _NAME, config.name, definition.name),
        ("record key", _KEYS, config.record_key_fields, definition.keys),
        ("partition fields", _PARTITIONS, config.partition_fields, tuple(field.partition(":")[0] for field in definition.partition_by)),
        ("ordering fields", _ORDER, config.ordering_fields, definition.order_by),
        ("table type", _TYPE, config.table_type, definition.table_type),
    )
    for what, names, stored, requested in pairs:
        if any(name in definition.stated for name in names) and stored != requested:
            return what
    try:
        check_agreement(resolve({name: value for name, value in definition.options.items() if concerns_table(name)}), config)
    except OptionError as error:
        return str(error).partition(". ")[0]
    return _changed_column(table, columns)


def _changed_column(table: HudiTable, columns: pa.Schema) -> str | None:
    """Return the column whose type is neither that of the table nor a wider one."""
    stored, config, incoming = table.schema, table.config, evolve(None, columns)
    try:
        evolved = evolve(
            stored,
            columns,
            key_fields=config.record_key_fields,
            partition_fields=config.partition_fields,
            ordering_fields=config.ordering_fields,
        )
    except SchemaError as error:
        return str(error)
    types = {field.name.lower(): field.type for field in evolved}
    return next((f"the type of {field.name}" for field in incoming if not _same_type(field.type, types[field.name.lower()])), None)


def _same_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Compare types; whether parts of them may be null is no difference."""
    return str(one).replace(" not null", "") == str(other).replace(" not null", "")


def _one(options: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    matches = {name: options[name] for name in names if name in options}
    if len(set(matches.values())) > 1:
        raise OptionError(f"options contradict each other: {', '.join(f'{k} = {v!r}' for k, v in matches.items())}; give one of them.")
    return next(iter(matches.values()), None)


def _fields(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
