"""What the options of a DataFrame write say about the table itself: name, keys, partitions, order, type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.spec.config.config_keys import find_key
from pyhudi.spec.table.table_config import parse_table_type
from pyhudi.table.hudi_table import HudiTable


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


def same_definition(table: HudiTable, definition: TableDefinition, location: str) -> None:
    """Check that an overwrite keeps keys, partitions and type of the table it replaces the rows of.

    Raises:
        OptionError: the definition differs; nothing was written.
    """
    config = table.config
    pairs = (
        ("record key", _KEYS, config.record_key_fields, definition.keys),
        ("partition fields", _PARTITIONS, config.partition_fields, tuple(field.partition(":")[0] for field in definition.partition_by)),
        ("table type", _TYPE, config.table_type, definition.table_type),
    )
    for what, names, stored, requested in pairs:
        if any(name in definition.stated for name in names) and tuple(stored) != tuple(requested):
            raise OptionError(
                f"mode('overwrite') on the table at {location} would change its {what} from {stored!r} to {requested!r}. Overwriting"
                " replaces rows, not the table's definition: write to another path, or delete the table first."
            )


def _one(options: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    matches = {name: options[name] for name in names if name in options}
    if len(set(matches.values())) > 1:
        raise OptionError(f"options contradict each other: {', '.join(f'{k} = {v!r}' for k, v in matches.items())}; give one of them.")
    return next(iter(matches.values()), None)


def _fields(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
