"""What this release can do with a table: the features it refuses to read or to write, each by name and with the reason.

A table is refused before anything is read or written wrongly; `hoodie.table.*` entries unknown to Hudi 1.2 may
change the meaning of files and count as such a feature.
"""

from __future__ import annotations

from pyhudi.errors import UnsupportedError, did_you_mean
from pyhudi.spec.key_settings import check_keys
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import MERGE_SETTINGS
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import check_served

_WRITTEN_GENERATORS = frozenset(
    {
        KeyGeneratorType.SIMPLE,
        KeyGeneratorType.COMPLEX,
        KeyGeneratorType.NON_PARTITION,
        KeyGeneratorType.TIMESTAMP,
        KeyGeneratorType.CUSTOM,
        KeyGeneratorType.GLOBAL_DELETE,
        KeyGeneratorType.USER_PROVIDED,
        KeyGeneratorType.AUTO_RECORD,
        KeyGeneratorType.SPARK_SQL,
    }
)


def check_readable(config: TableConfig) -> None:
    """Refuse a table that this release cannot read right.

    Raises:
        UnsupportedError: its version or one of its features is not served; the message names it.
    """
    _check_version(config, for_write=False)
    _refuse_unknown(config, "hoodie.table.")
    if config.base_file_format != "PARQUET":
        raise _refusal(config, f"{keys.BASE_FILE_FORMAT}={config.base_file_format}", "only PARQUET base files are served")
    _refuse_flag(config, keys.MULTIPLE_BASE_FILE_FORMATS, "only PARQUET base files are served")
    _check_bootstrap_index(config)
    if (kind := config.properties.get(keys.TABLE_FORMAT, "native").lower()) != "native":
        raise _refusal(config, f"{keys.TABLE_FORMAT}={kind}", "only the native format is served")


def check_writable(config: TableConfig) -> None:
    """Refuse a table that this release cannot write right; refuses all that `check_readable` does, too.

    Raises:
        UnsupportedError: its version or one of its features is not served; the message names it.
    """
    _check_version(config, for_write=True)
    check_readable(config)
    _refuse_unknown(config, "hoodie.")
    _check_keys(config)
    check_keys(config)
    _check_merging(config)


def _check_version(config: TableConfig, *, for_write: bool) -> None:
    try:
        check_served(config.version, for_write=for_write)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error} (in hoodie.properties)") from None


def _check_bootstrap_index(config: TableConfig) -> None:
    """Refuse a bootstrapped table whose source files no index names."""
    if not config.properties.get(keys.BOOTSTRAP_BASE_PATH, ""):
        return
    kind = config.properties.get(keys.BOOTSTRAP_INDEX_TYPE, config.properties.get(keys.BOOTSTRAP_INDEX_CLASS, "HFILE"))
    if not kind.upper().endswith(("HFILE", "HFILEBOOTSTRAPINDEX")):
        raise _refusal(config, f"the bootstrap index {kind}", "only HFILE is served")
    if config.properties.get(keys.BOOTSTRAP_INDEX_ENABLE, "true").lower() == "false":
        raise _refusal(config, f"{keys.BOOTSTRAP_INDEX_ENABLE}=false", "without its index the data of the table cannot be found")


def _check_keys(config: TableConfig) -> None:
    generator = config.key_generator
    if generator.family not in _WRITTEN_GENERATORS:
        raise _refusal(config, f"the key generator {generator}", "its keys are not computed by pyhudi")
    if config.key_encoding_is_open:  # the wrong choice would double rows
        raise _refusal(
            config,
            f"the key generator COMPLEX with the one field {config.record_key_fields[0]}",
            f"before version 9 its keys may be 'field:value' or 'value'. Look at _hoodie_record_key and add the line"
            f" {keys.COMPLEX_KEY_ENCODING}=FIELD_PREFIXED or VALUE_ONLY",
        )


def _check_merging(config: TableConfig) -> None:
    """Refuse settings of the merging that are not known; those of a merger of the table's owner are its own affair."""
    if config.merge_mode is MergeMode.CUSTOM:
        return
    known = {keys.MERGE_PROPERTY_PREFIX + name for name in MERGE_SETTINGS}
    for name in config.properties:
        if name.startswith(keys.MERGE_PROPERTY_PREFIX) and name not in known:
            raise _refusal(config, name, "what it changes about merging is not known")


def _refuse_unknown(config: TableConfig, prefix: str) -> None:
    for name in config.properties:
        if name.startswith(prefix) and name not in keys.KNOWN and not name.startswith(keys.FAMILIES):
            raise _refusal(
                config,
                name,
                f"this entry is unknown to pyhudi and may change the meaning of the table.{did_you_mean(name, keys.KNOWN)}",
            )


def _refuse_flag(config: TableConfig, name: str, reason: str) -> None:
    if config.properties.get(name, "").lower() == "true":
        raise _refusal(config, f"{name}=true", reason)


def _refusal(config: TableConfig, what: str, reason: str) -> UnsupportedError:
    return UnsupportedError(f"table {config.name} has {what} in its hoodie.properties: {reason}")
