"""Which `hoodie.*` options a statement's write has: `hudi-defaults.conf`, table properties, `spark.hoodie.*`, `SET hoodie.*`; each of
these takes precedence over those named earlier (seen with Apache Hudi 1.2.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import SparkSession

from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.options.session_options import session_options
from pyhudi.spec.config.config_keys import find_key
from pyhudi.spec.options import Options, merge_options, note_without_effect, resolve, same_key
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.write.options.validate_options import OPERATION

OVERWRITE_MODE: Final = "hoodie.datasource.overwrite.mode"
_PREFIXES = ("hoodie.", "pyhudi.options.")
#: What a statement does not take from settings, under any of its names, and why.
_IGNORED: Final = {
    **dict.fromkeys(
        (
            "hoodie.table.name",
            "hoodie.datasource.write.table.type",
            "hoodie.datasource.write.partitionpath.field",
            "hoodie.datasource.write.hive_style_partitioning",
            "hoodie.datasource.write.partitionpath.urlencode",
        ),
        "is said by the table itself",
    ),
}


def call_options(session: SparkSession, entry: CatalogTable | None) -> dict[str, str]:
    """Return the options of a procedure that writes to a table, which may be named by its path."""
    return dict(write_options(session, entry)) if entry is not None else merge_options(default_write_options(), session_options(session))


def write_options(session: SparkSession, entry: CatalogTable) -> Mapping[str, str]:
    """Return the options of a write to a table of the session catalog, by their names as they were given."""
    return served(settings_of(session, entry.properties))


def settings_of(session: SparkSession, properties: Mapping[str, str]) -> Mapping[str, str]:
    """Return all settings that concern a table with these properties.

    `saveAsTable` leaves the operation of its write in the properties, where it is none of later statements.
    """
    stated = {key: value for key, value in properties.items() if key.startswith(_PREFIXES)}
    for key in [key for key in stated if _is_operation(key)]:
        note_without_effect(key, "is in the properties of a table: SET it")
        del stated[key]
    return merge_options(default_write_options(), stated, session_options(session))


def served(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return those settings that are options of a statement's write."""
    return {key: value for key, value in chosen.items() if not _is_ignored(key)}


def operation_in(chosen: Mapping[str, str]) -> str | None:
    """Return what settings say that a write does, which counts for INSERT and CREATE TABLE AS SELECT: UPDATE is an update."""
    return next((value for key, value in chosen.items() if _is_operation(key)), None)


def stated_options(session: SparkSession, properties: Mapping[str, str]) -> Options:
    """Return the options that a write of this session would have with properties that a statement gives to a table. The properties come
    first, since they are what is looked at.

    Raises:
        OptionError: one is wrong.
        UnsupportedError: one is not served.
    """
    given = {key: value for key, value in properties.items() if key.startswith(_PREFIXES)}
    chosen = merge_options(default_write_options(), session_options(session), given)
    return resolve(served(chosen))


def _is_ignored(name: str) -> bool:
    if _is_operation(name):
        return True
    key = find_key(name)
    if key is None or key.name not in _IGNORED:
        return False
    note_without_effect(name, _IGNORED[key.name])
    return True


def _is_operation(name: str) -> bool:
    return same_key(name, OPERATION)
