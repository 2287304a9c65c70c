"""Names of the settings of the timestamp key generator, under today's prefix and those of older releases.

Rules: `TimestampKeyGeneratorConfig`. They are lines of `hoodie.properties`, fixed when the table is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PREFIX: Final = "hoodie.keygen.timebased."
OLD_PREFIXES: Final = ("hoodie.deltastreamer.keygen.timebased.", "hoodie.streamer.keygen.timebased.")
TYPE: Final = PREFIX + "timestamp.type"
UNIT: Final = PREFIX + "timestamp.scalar.time.unit"
INPUT_FORMAT: Final = PREFIX + "input.dateformat"
INPUT_DELIMITER: Final = PREFIX + "input.dateformat.list.delimiter.regex"
INPUT_ZONE: Final = PREFIX + "input.timezone"
OUTPUT_FORMAT: Final = PREFIX + "output.dateformat"
OUTPUT_ZONE: Final = PREFIX + "output.timezone"
ZONE: Final = PREFIX + "timezone"
NAMES: Final = (TYPE, UNIT, INPUT_FORMAT, INPUT_DELIMITER, INPUT_ZONE, OUTPUT_FORMAT, OUTPUT_ZONE, ZONE)
DATE_TIME_PARSER: Final = "hoodie.keygen.datetime.parser.class"
HUDI_PARSER: Final = "org.apache.hudi.keygen.parser.HoodieDateTimeParser"


def spellings(name: str) -> tuple[str, ...]:
    """Return the names under which older releases know a setting."""
    return tuple(prefix + name.removeprefix(PREFIX) for prefix in OLD_PREFIXES)


def has_string_input(properties: Mapping[str, str]) -> bool:
    """Tell whether the values of the partition field are strings; tables of older releases may not say their type."""
    return (setting(properties, TYPE) or "DATE_STRING") in ("DATE_STRING", "MIXED")


def setting(properties: Mapping[str, str], name: str) -> str | None:
    """Return a setting by its name of today; None when no spelling of it is given."""
    return next((properties[spelling] for spelling in (name, *spellings(name)) if spelling in properties), None)
