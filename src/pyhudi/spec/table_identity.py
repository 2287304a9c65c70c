"""What a table's properties say that its files were written by: the keys whose silent change would make other keys, paths or rows.

Hudi's own checksum of `hoodie.properties` covers the table's name alone. So each commit of this package notes these values in its extra
metadata, behind their CRC-32: a note whose CRC does not hold is damage of the commit, one that differs from the properties is damage of
those, or a change made on purpose. Name and database are left out, because a rename changes them and Hudi's checksum covers them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Final

from pyhudi.errors import UnsupportedError
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table import timestamp_keys
from pyhudi.spec.table.table_config import TableConfig

#: In `.hoodie/.aux`: the note of properties that were changed on purpose.
ACCEPTED_FILE: Final = "pyhudi.identity"
#: What an upgrade or downgrade by Apache Hudi changes, which is followed by a commit of Apache Hudi.
CHANGED_BY_UPGRADES: Final = frozenset(
    {
        keys.VERSION,
        keys.LAYOUT,
        keys.KEY_GENERATOR_TYPE,
        keys.ORDERING_FIELDS,
        keys.MERGE_MODE,
        keys.COMPLEX_KEY_ENCODING,
        keys.TIMELINE_PATH,
        keys.HISTORY_PATH,
        keys.ARCHIVE_FOLDER,
    }
)
#: Settings of the timestamp key generator are lines of many spellings: they are compared as one.
_TIMESTAMPS: Final = timestamp_keys.PREFIX + "*"


def identity_of(config: TableConfig) -> dict[str, str]:
    """Return the values by their property names, as this release understands them: a default that is written out is no change."""
    settings = {name: timestamp_keys.setting(config.properties, name) for name in timestamp_keys.NAMES}
    return {
        keys.TYPE: config.table_type,
        keys.VERSION: str(config.version),
        keys.LAYOUT: str(config.layout),
        keys.RECORD_KEY_FIELDS: ",".join(config.record_key_fields),
        keys.PARTITION_FIELDS: ",".join(config.partition_fields),
        keys.ORDERING_FIELDS: ",".join(config.ordering_fields),
        keys.KEY_GENERATOR_TYPE: _key_generator(config),
        keys.MERGE_MODE: _merge_mode(config),
        keys.COMPLEX_KEY_ENCODING: config.properties.get(keys.COMPLEX_KEY_ENCODING, ""),
        keys.HIVE_STYLE: str(config.hive_style),
        keys.URL_ENCODE: str(config.url_encode),
        keys.SLASH_DATES: str(config.slash_dates),
        keys.LOGICAL_TIMESTAMPS: str(config.timestamps_as_text),
        keys.DROP_PARTITION_COLUMNS: str(config.drop_partition_columns),
        keys.POPULATE_META_FIELDS: str(config.populate_meta_fields),
        keys.BASE_FILE_FORMAT: config.base_file_format,
        keys.TIMELINE_ZONE: config.timeline_zone,
        keys.TIMELINE_PATH: config.timeline_path,
        keys.HISTORY_PATH: config.history_path if config.layout > 1 else "",
        keys.ARCHIVE_FOLDER: config.archive_path if config.layout == 1 else "",
        _TIMESTAMPS: ",".join(f"{name.removeprefix(timestamp_keys.PREFIX)}={value}" for name, value in settings.items() if value),
    }


def _key_generator(config: TableConfig) -> str:
    try:
        return config.key_generator.family.name
    except UnsupportedError:
        return config.properties.get(keys.KEY_GENERATOR_CLASS) or config.properties.get(keys.KEY_GENERATOR_TYPE, "")


def _merge_mode(config: TableConfig) -> str:
    try:
        return config.merge_mode.name
    except UnsupportedError:
        return config.properties.get(keys.MERGE_MODE, "")


def identity_note(config: TableConfig) -> str:
    """Return the values as a note: their CRC-32 and themselves, without those that are empty."""
    text = json.dumps({name: value for name, value in identity_of(config).items() if value}, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x} {text}"


def noted_identity(note: str) -> Mapping[str, str] | None:
    """Return the values of a note; None when its CRC does not hold.

    Example:
        >>> noted_identity("00000000 {}") is None
        True
    """
    checksum, _, text = note.partition(" ")
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        return None
    values = json.loads(text)
    assert isinstance(values, dict)
    return {str(name): str(value) for name, value in values.items()}
