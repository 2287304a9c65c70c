"""The key generator of a table, by its configuration. Rules: `HoodieSparkKeyGeneratorFactory`, `KeyGeneratorType`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.fields import FieldKeys
from pyhudi.keygen.key_generator_protocol import KeyFields, PartitionField, PartitionLayout
from pyhudi.keygen.timestamp_partition import timestamp_text
from pyhudi.keygen.user import UserKeys, find_key_generator
from pyhudi.spec.table import table_keys
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_version import TableVersion

if TYPE_CHECKING:
    from pyhudi.spec.table.table_config import TableConfig

KeyGenerator = FieldKeys | AutoKeys | UserKeys

_SERVED: Final = (
    KeyGeneratorType.SIMPLE,
    KeyGeneratorType.COMPLEX,
    KeyGeneratorType.NON_PARTITION,
    KeyGeneratorType.TIMESTAMP,
    KeyGeneratorType.CUSTOM,
    KeyGeneratorType.GLOBAL_DELETE,
    KeyGeneratorType.AUTO_RECORD,
    KeyGeneratorType.USER_PROVIDED,
)
_ONE_KEY_FIELD: Final = (KeyGeneratorType.SIMPLE, KeyGeneratorType.TIMESTAMP)
_SIMPLE_PART: Final = "SIMPLE"
_TIMESTAMP_PART: Final = "TIMESTAMP"
#: How many partition fields generators take, which take not any number of them.
_PARTITION_FIELDS: Final = {
    KeyGeneratorType.SIMPLE: (0, 1),
    KeyGeneratorType.TIMESTAMP: (1, 1),
    KeyGeneratorType.NON_PARTITION: (0, 0),
}


def key_generator(config: TableConfig, *, instant: str, task_partition: int = 0) -> KeyGenerator:
    """Return the generator that makes keys and partition paths for a table's new records.

    Args:
        config: the table's configuration.
        instant: the write's instant, for keys that are made up and for years of two digits.
        task_partition: number of the task, for keys that are made up.

    Raises:
        UnsupportedError: records of this generator can be read, but not made here.
        OptionError: the generator cannot have the table's fields, or a setting of it is missing or wrong.
    """
    kind = config.key_generator.family
    if kind not in _SERVED:
        raise UnsupportedError(f"Table '{config.name}' has key generator {kind}; this release writes with {', '.join(_SERVED)} only.")
    if kind is KeyGeneratorType.USER_PROVIDED:
        name = config.properties.get(table_keys.KEY_GENERATOR_CLASS, "")
        return UserKeys(name, find_key_generator(name), _arranged(config, tuple(map(PartitionField, config.partition_fields))))
    layout = _layout(config, kind, int(instant[:4]))
    if not config.record_key_fields:
        return AutoKeys(instant, task_partition, layout)
    return FieldKeys(key_fields(config), layout)


def key_fields(config: TableConfig) -> KeyFields:
    """Return how the record keys of a table come from the data.

    Raises:
        UnsupportedError: they do not, or not by a rule known here.
        OptionError: the generator cannot have these fields, or how it writes them is not decided.
    """
    kind, fields = config.key_generator.family, config.record_key_fields
    if kind not in _SERVED or kind is KeyGeneratorType.USER_PROVIDED or not fields:
        raise UnsupportedError(f"Table '{config.name}' has key generator {kind}, whose keys are not told by its columns.")
    # A table without partition fields may say SIMPLE, and have keys as the generator NON_PARTITION makes them.
    if kind in _ONE_KEY_FIELD and len(fields) > 1 and config.partition_fields:
        raise OptionError(
            f"Table '{config.name}' has key generator {kind}, which takes one record key field, but has {len(fields)}: "
            f"{', '.join(fields)}. Use {'CUSTOM' if kind is KeyGeneratorType.TIMESTAMP else 'COMPLEX'}."
        )
    names_one = kind is KeyGeneratorType.GLOBAL_DELETE or (kind is KeyGeneratorType.COMPLEX and not _bare_single(config))
    return KeyFields(fields, len(fields) > 1 or names_one, config.timestamps_as_text)


def _layout(config: TableConfig, kind: KeyGeneratorType, year_now: int) -> PartitionLayout:
    names = config.partition_fields
    if kind is KeyGeneratorType.GLOBAL_DELETE and names:
        raise OptionError(f"Table '{config.name}' has key generator GLOBAL_DELETE, which makes no partitions, and partition fields.")
    parts = _parts(config, kind)
    timestamps = timestamp_text(config.properties, year_now=year_now) if _TIMESTAMP_PART in parts else None
    fields = tuple(
        PartitionField(name, timestamps if part == _TIMESTAMP_PART else None, config.timestamps_as_text)
        for name, part in zip(names, parts, strict=True)
    )
    return _arranged(config, fields)


def _arranged(config: TableConfig, fields: tuple[PartitionField, ...]) -> PartitionLayout:
    return PartitionLayout(fields, config.hive_style, config.url_encode, config.slash_dates, config.drop_partition_columns)


def _parts(config: TableConfig, kind: KeyGeneratorType) -> tuple[str, ...]:
    """Return what each partition field is taken for: its value, or a timestamp."""
    names = config.partition_fields
    least, most = _PARTITION_FIELDS.get(kind, (0, len(names)))
    if not least <= len(names) <= most:
        takes = ("no partition field", "one partition field")[most]
        raise OptionError(f"Table '{config.name}' has key generator {kind}, which takes {takes}, but has {', '.join(names) or 'none'}.")
    if kind is KeyGeneratorType.TIMESTAMP:
        return (_TIMESTAMP_PART,)
    if kind is not KeyGeneratorType.CUSTOM:
        typed = [f"{name}:{part}" for name, part in zip(names, config.partition_field_types, strict=True) if part]
        if typed:
            raise OptionError(
                f"Table '{config.name}' has key generator {kind}, which takes the names of partition fields alone, but has {typed[0]}:"
                " leave out what follows the colon, or use CUSTOM."
            )
        return (_SIMPLE_PART,) * len(names)
    for name, part in zip(names, config.partition_field_types, strict=True):
        if part not in (_SIMPLE_PART, _TIMESTAMP_PART):
            raise OptionError(
                f"Table '{config.name}' has key generator CUSTOM, and its partition field '{name}' says"
                f" {part or 'nothing'} of how it is written: give {name}:SIMPLE or {name}:TIMESTAMP."
            )
    return tuple(part or "" for part in config.partition_field_types)


def _bare_single(config: TableConfig) -> bool:
    """True when the key of one field is its bare value, which tables before version 9 may have or not."""
    encoding = config.properties.get(table_keys.COMPLEX_KEY_ENCODING)
    if encoding:
        return encoding.upper() == "VALUE_ONLY"
    if config.version >= TableVersion.NINE or len(config.record_key_fields) > 1:
        return False
    raise OptionError(
        f"Table '{config.name}' has key generator COMPLEX with one field, '{config.record_key_fields[0]}', whose keys "
        "were written as 'field:value' by some releases of Hudi and as 'value' by others; the wrong choice would "
        f"double rows. Look at its _hoodie_record_key and add the line {table_keys.COMPLEX_KEY_ENCODING}=FIELD_PREFIXED"
        " or VALUE_ONLY to hoodie.properties."
    )
