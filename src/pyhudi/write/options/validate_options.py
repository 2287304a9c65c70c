"""Options of a write against the table: what a table was created with cannot be changed by a write, nor how it is laid out.

Rules: `HoodieWriterUtils.validateTableConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.index.resolve_index import ResolvedIndex
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.key_settings import BARE_VALUE, CLASS_OPTION, FLAG_LINES, encoding_of, stored_key_lines
from pyhudi.spec.options import Options, resolve, same_key, warn_unserved
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table import timestamp_keys
from pyhudi.spec.table.cdc_mode import logging_mode
from pyhudi.spec.table.key_generator import parse_key_generator
from pyhudi.spec.table.payload_class import MERGE_SETTINGS, PAYLOADS
from pyhudi.spec.table.table_config import TableConfig

_CLUSTERINGS = ("hoodie.clustering.inline", "hoodie.clustering.async.enabled", "hoodie.clustering.schedule.inline")
OPERATION = "hoodie.datasource.write.operation"
#: Operations by the names that the option has for them.
OPERATIONS: Final = {
    "upsert": Operation.UPSERT,
    "insert": Operation.INSERT,
    "bulk_insert": Operation.BULK_INSERT,
    "delete": Operation.DELETE,
    "delete_partition": Operation.DELETE_PARTITION,
    "insert_overwrite": Operation.INSERT_OVERWRITE,
    "insert_overwrite_table": Operation.INSERT_OVERWRITE_TABLE,
}
#: Options by the line of hoodie.properties that they would have to agree with.
_OPTIONS = {
    keys.NAME: "hoodie.table.name",
    keys.TYPE: "hoodie.datasource.write.table.type",
    keys.VERSION: "hoodie.write.table.version",
    keys.RECORD_KEY_FIELDS: "hoodie.datasource.write.recordkey.field",
    keys.PARTITION_FIELDS: "hoodie.datasource.write.partitionpath.field",
    keys.ORDERING_FIELDS: "hoodie.table.ordering.fields",
    keys.KEY_GENERATOR_TYPE: "hoodie.datasource.write.keygenerator.type",
    keys.MERGE_MODE: "hoodie.record.merge.mode",
    keys.MERGE_STRATEGY_ID: "hoodie.record.merge.strategy.id",
    keys.PAYLOAD_CLASS: "hoodie.datasource.write.payload.class",
    keys.PARTIAL_UPDATE_MODE: "hoodie.table.partial.update.mode",
    **{keys.MERGE_PROPERTY_PREFIX + name: name for name in MERGE_SETTINGS},
    keys.HIVE_STYLE: "hoodie.datasource.write.hive_style_partitioning",
    keys.URL_ENCODE: "hoodie.datasource.write.partitionpath.urlencode",
    keys.TIMELINE_ZONE: "hoodie.table.timeline.timezone",
    keys.KEY_GENERATOR_CLASS: CLASS_OPTION,
    **{line: line for line in (keys.COMPLEX_KEY_ENCODING, *FLAG_LINES, *timestamp_keys.NAMES)},
    keys.CDC_ENABLED: keys.CDC_ENABLED,
    keys.CDC_MODE: keys.CDC_MODE,
}
#: A payload class by which a write of Apache Hudi before 1.0 deletes its rows.
_DELETING_PAYLOAD = ".EmptyHoodieRecordPayload"
#: Lines whose values are compared letter by letter.
_SETTINGS = tuple(keys.MERGE_PROPERTY_PREFIX + name for name in MERGE_SETTINGS)
_EXACT = (keys.NAME, keys.PAYLOAD_CLASS, keys.KEY_GENERATOR_CLASS, *timestamp_keys.NAMES, *_SETTINGS)
_TYPES = {"COW": "COPY_ON_WRITE", "MOR": "MERGE_ON_READ"}


def check_agreement(options: Options, config: TableConfig) -> None:
    """Refuse options that contradict the table.

    Raises:
        OptionError: names the option, the line of hoodie.properties and the value to give.
    """
    _check_encoding(options, config)
    stored = _stored(config)
    for line, option in _OPTIONS.items():
        stated = options.get(option)
        if line == keys.PAYLOAD_CLASS and (payload := PAYLOADS.get(stated or "")) is not None and payload.is_plain:
            continue  # the mode is recorded in the table configuration
        if stated is not None and line in stored and _differ(line, stated, stored[line]):
            line_says = f"says {line}={stored[line]}" if stored[line] else f"has no {line}"
            raise OptionError(
                f"{option}={stated} contradicts table {config.name}, whose .hoodie/hoodie.properties {line_says}."
                f" {_advice(option, stated, stored[line])}"
            )


def _advice(option: str, stated: str, stored: str) -> str:
    if option == _OPTIONS[keys.PAYLOAD_CLASS] and stated.endswith(_DELETING_PAYLOAD):
        return f"To delete the rows, leave the option out and set {OPERATION}=delete."
    return f"Leave the option out or set {option}={stored}." if stored else "Leave the option out."


def _check_encoding(options: Options, config: TableConfig) -> None:
    """Hudi's option for single-field complex keys would make other keys than the stored ones; from version 9 on it says nothing."""
    written = config.properties.get(keys.COMPLEX_KEY_ENCODING)
    if written is not None and options.get(BARE_VALUE) is not None and encoding_of(options) != written:
        raise OptionError(
            f"{BARE_VALUE}={options.get(BARE_VALUE)} contradicts table {config.name}, whose keys are {written}: with others the write"
            " would double records. Leave the option out."
        )


def check_operation(options: Mapping[str, str], operation: Operation) -> None:
    """Refuse an option that asks for another operation than the method that it was given to.

    Raises:
        OptionError: names both.
    """
    done = operation.value.lower().removesuffix("_prepped")
    stated = resolve({name: value for name, value in options.items() if same_key(name, OPERATION)}).get(OPERATION)
    if stated is not None and stated.strip().lower() != done:
        raise OptionError(
            f"{OPERATION}={stated} contradicts the method, which is {done}: call the method for it, and leave the option out."
        )


def check_clustering(options: Options, resolved: ResolvedIndex, config: TableConfig) -> None:
    """Warn that a table of buckets is not clustered after the write; refuse that when the options are to be so strict.

    Raises:
        UnsupportedError: the option is not served for this table, and unserved options are refused.
    """
    if resolved.layout is None or resolved.layout.is_consistent:
        return
    reason = f"the file groups of table {config.name} are a fixed number of buckets, which rows cannot leave"
    for name in filter(options.flag, _CLUSTERINGS):
        if options.refuses_unserved:
            raise UnsupportedError(f"{name}=true: {reason}; leave the option out")
        warn_unserved(name, reason)


def check_replacing(operation: Operation, resolved: ResolvedIndex, config: TableConfig) -> None:
    """Refuse an operation that replaces file groups whose ids consistent hashing gives.

    Raises:
        UnsupportedError: names the operation.
    """
    if operation.replaces and _uses_consistent_hashing(resolved):
        raise UnsupportedError(
            f"{operation.value} of table {config.name} is not served: consistent hashing names file groups by"
            " their buckets, so that rows written later would be taken for those that were replaced. Delete the rows and insert others."
        )


def _uses_consistent_hashing(resolved: ResolvedIndex) -> bool:
    return resolved.layout is not None and resolved.layout.is_consistent


def _stored(config: TableConfig) -> dict[str, str]:
    """Return what the table has for each line; lines that older tables lack or name differently are filled in."""
    mode = logging_mode(config)
    return {
        keys.NAME: config.name,
        keys.TYPE: config.table_type,
        keys.VERSION: str(config.version),
        keys.RECORD_KEY_FIELDS: ",".join(config.record_key_fields),
        keys.PARTITION_FIELDS: config.properties.get(keys.PARTITION_FIELDS, ""),
        keys.ORDERING_FIELDS: ",".join(config.ordering_fields),
        keys.KEY_GENERATOR_TYPE: config.key_generator.value,
        keys.MERGE_MODE: config.merge_mode.value,
        keys.MERGE_STRATEGY_ID: config.properties.get(keys.MERGE_STRATEGY_ID) or config.merge_mode.strategy_id or "",
        keys.PAYLOAD_CLASS: config.properties.get(keys.PAYLOAD_CLASS) or config.properties.get(keys.LEGACY_PAYLOAD_CLASS, ""),
        keys.PARTIAL_UPDATE_MODE: config.properties.get(keys.PARTIAL_UPDATE_MODE, ""),
        **{line: config.properties.get(line, "") for line in _SETTINGS},
        keys.HIVE_STYLE: str(config.hive_style).lower(),
        keys.URL_ENCODE: str(config.url_encode).lower(),
        keys.TIMELINE_ZONE: config.timeline_zone,
        **stored_key_lines(config),
        keys.CDC_ENABLED: str(mode is not None).lower(),
        # How a table logs what it does not log makes no difference.
        **({keys.CDC_MODE: mode.value} if mode else {}),
    }


def _differ(line: str, stated: str, stored: str) -> bool:
    if line == keys.PARTITION_FIELDS and ":" in stated and ":" in stored:
        return _types_of(stated) != _types_of(stored)
    return _normal(line, stated) != _normal(line, stored)


def _types_of(text: str) -> list[tuple[str, str]]:
    """Return the partition fields of a custom key generator with what each is taken for."""
    parts = (part.strip().partition(":") for part in text.split(",") if part.strip())
    return [(name, kind.upper()) for name, _, kind in parts]


def _normal(line: str, value: str) -> str:
    text = value.strip()
    if line in _EXACT:
        return text
    if line == keys.KEY_GENERATOR_TYPE:
        return parse_key_generator(text).family.value
    if line in (keys.RECORD_KEY_FIELDS, keys.PARTITION_FIELDS, keys.ORDERING_FIELDS):
        return ",".join(part.strip().partition(":")[0] for part in text.split(",") if part.strip())
    return _TYPES.get(text.upper(), text.upper())
