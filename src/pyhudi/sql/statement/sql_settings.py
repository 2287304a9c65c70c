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
from pyhudi.spec.options import Options, merge_options, note_without_effect, resolve
from pyhudi.storage.defaults_file import default_write_options

OVERWRITE_MODE: Final = "hoodie.datasource.overwrite.mode"
_PREFIXES = ("hoodie.", "pyhudi.options.")
#: What a statement does not take from settings, under any of its names, and why.
_IGNORED: Final = {
    "hoodie.datasource.write.operation": "is for DataFrames: a statement says itself what it does",
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
    stated = {key: value for key, value in entry.properties.items() if key.startswith(_PREFIXES)}
    chosen = merge_options(default_write_options(), stated, session_options(session))
    return {key: value for key, value in chosen.items() if not _is_ignored(key)}


def stated_options(session: SparkSession, properties: Mapping[str, str]) -> Options:
    """Return the options that a write of this session would have with properties that a statement gives to a table. The properties come
    first, since they are what is looked at.

    Raises:
        OptionError: one is wrong.
        UnsupportedError: one is not served.
    """
    given = {key: value for key, value in properties.items() if key.startswith(_PREFIXES)}
    chosen = merge_options(default_write_options(), session_options(session), given)
    return resolve({key: value for key, value in chosen.items() if not _is_ignored(key)})


def _is_ignored(name: str) -> bool:
    key = find_key(name)
    if key is None or key.name not in _IGNORED:
        return False
    note_without_effect(name, _IGNORED[key.name])
    return True
