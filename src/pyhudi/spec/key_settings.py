"""The lines of a new table's `hoodie.properties` that say how its keys and partition paths are made, from the options given.

Rules: `HoodieTableMetaClient.TableBuilder`, which stores the settings of the timestamp generator with the table. What Hudi has as a
write option alone (how timestamps are written) is stored as well: a table whose writers differ in it holds rows twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.options import Options
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.cdc_mode import logging_mode
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.spec.table.timestamp_keys import NAMES, setting

CLASS_OPTION = "hoodie.datasource.write.keygenerator.class"
BARE_VALUE = "hoodie.write.complex.keygen.new.encoding"
FLAG_LINES = (keys.LOGICAL_TIMESTAMPS, keys.SLASH_DATES, keys.DROP_PARTITION_COLUMNS, keys.POPULATE_META_FIELDS)
_VIRTUAL_COPY_ON_WRITE = (
    KeyGeneratorType.SIMPLE,
    KeyGeneratorType.COMPLEX,
    KeyGeneratorType.CUSTOM,
    KeyGeneratorType.TIMESTAMP,
    KeyGeneratorType.NON_PARTITION,
)
_VIRTUAL_MERGE_ON_READ = (KeyGeneratorType.SIMPLE,)
_TIMESTAMPS = frozenset({KeyGeneratorType.TIMESTAMP.value})


def key_lines(options: Options, version: int) -> dict[str, str]:
    """Return the lines; those at their default are left out.

    Raises:
        OptionError: two options contradict each other.
    """
    matches = {name: value for name in NAMES if (value := options.get(name)) is not None}
    for name in FLAG_LINES:
        if options.flag(name) != (name == keys.POPULATE_META_FIELDS):
            matches[name] = options.text(name).strip().lower()
    if class_name := options.get(CLASS_OPTION):
        matches[keys.KEY_GENERATOR_CLASS] = class_name
    return matches | _encoding(options, version)


def _encoding(options: Options, version: int) -> dict[str, str]:
    """Before version 9 a table must say how the generator COMPLEX writes the key of one field."""
    stated, bare = options.get(keys.COMPLEX_KEY_ENCODING), options.get(BARE_VALUE)
    if version >= TableVersion.NINE:
        if (stated or "").upper() == "VALUE_ONLY":
            raise OptionError(f"{keys.COMPLEX_KEY_ENCODING}={stated} is for tables before version 9; version 9 always names the field.")
        return {}
    if stated is None and bare is None:
        return {}
    requested_encoding = encoding_of(options)
    if stated is not None and bare is not None and stated.upper() != requested_encoding:
        raise OptionError(f"{keys.COMPLEX_KEY_ENCODING}={stated} and {BARE_VALUE}={bare} contradict each other: give one of them.")
    return {keys.COMPLEX_KEY_ENCODING: requested_encoding if stated is None else stated.upper()}


def encoding_of(options: Options) -> str:
    """Return the encoding of single-field complex keys by Hudi's own option for it."""
    return "VALUE_ONLY" if options.flag(BARE_VALUE) else "FIELD_PREFIXED"


def check_keys(config: TableConfig) -> None:
    """Refuse a table whose keys or partitions cannot be written as it says.

    Raises:
        UnsupportedError: names the setting and why.
    """
    name = f"table {config.name}"
    if config.slash_dates and (len(config.partition_fields) != 1 or config.hive_style):
        raise UnsupportedError(
            f"{name} has {keys.SLASH_DATES}=true, which is for tables with one partition field whose folders are not named field=value."
        )
    if config.drop_partition_columns:
        _check_dropped(config, f"{name} has {keys.DROP_PARTITION_COLUMNS}=true")
    if not config.populate_meta_fields:
        _check_virtual(config, name)


def _check_dropped(config: TableConfig, what: str) -> None:
    """Refuse tables of which the paths do not tell what the files leave out."""
    fields = config.partition_fields
    if not fields:
        raise UnsupportedError(f"{what} and no partition fields.")
    if config.is_merge_on_read:
        raise UnsupportedError(f"{what}: merge-on-read tables keep their partition columns, as in Hudi.")
    if nested := [field for field in fields if "." in field]:
        raise UnsupportedError(f"{what} and the partition field {nested[0]}, which is no column of its own.")
    if _TIMESTAMPS & {config.key_generator.family.value, *config.partition_field_types} or config.slash_dates:
        raise UnsupportedError(f"{what} and partition values that paths hold in another form: they could not be read back.")
    if compared := [field for field in config.ordering_fields if field in fields]:
        raise UnsupportedError(f"{what} and the ordering field {compared[0]}, of which stored rows would have no value.")
    if not config.populate_meta_fields and (keyed := [field for field in config.record_key_fields if field in fields]):
        raise UnsupportedError(f"{what} and virtual keys of the field {keyed[0]}, of which stored rows would have no value.")
    if logging_mode(config) is not None:
        raise UnsupportedError(f"{what} and change data capture, whose images have no partition columns then.")


def _check_virtual(config: TableConfig, name: str) -> None:
    kind = config.key_generator.family
    what = f"{name} has {keys.POPULATE_META_FIELDS}=false (virtual keys)"
    if not config.record_key_fields:
        raise UnsupportedError(f"{what} and no record key: keys that are made up would be lost with the column that holds them.")
    served = _VIRTUAL_MERGE_ON_READ if config.is_merge_on_read else _VIRTUAL_COPY_ON_WRITE
    if kind not in served:
        raise UnsupportedError(
            f"{what} and the key generator {kind}; {config.table_type} tables can have {', '.join(served)} then, as in Hudi."
        )


def stored_key_lines(config: TableConfig) -> Mapping[str, str]:
    """Return what a table has for each line, defaults filled in, to compare options with."""
    return {
        keys.LOGICAL_TIMESTAMPS: str(config.timestamps_as_text).lower(),
        keys.SLASH_DATES: str(config.slash_dates).lower(),
        keys.DROP_PARTITION_COLUMNS: str(config.drop_partition_columns).lower(),
        keys.POPULATE_META_FIELDS: str(config.populate_meta_fields).lower(),
        keys.COMPLEX_KEY_ENCODING: config.properties.get(keys.COMPLEX_KEY_ENCODING, "FIELD_PREFIXED"),
        keys.KEY_GENERATOR_CLASS: config.properties.get(keys.KEY_GENERATOR_CLASS, ""),
        **{name: setting(config.properties, name) or "" for name in NAMES},
    }
