"""What an upgrade or a downgrade changes in `hoodie.properties`: one function for each step between two neighbouring versions.

Rules: `SevenToEightUpgradeHandler`, `EightToNineUpgradeHandler`, `NineToEightDowngradeHandler`, `EightToSevenDowngradeHandler`;
docs/format/upgrade.md. Apache Hudi shows each step of a chain the properties from before the first one; here each step sees what the step
before left, so that 6 to 9 in one go ends as 6 to 8 to 9 does. The merge mode stays the one by which the table was read before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final

from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.merge_mode import PAYLOAD_STRATEGY, MergeMode
from pyhudi.spec.table.payload_class import PAYLOADS
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion

Properties = dict[str, str]

_OLD_STRATEGY: Final = "hoodie.compaction.record.merger.strategy"
_INDEX_CLASS, _INDEX_TYPE = "hoodie.bootstrap.index.class", "hoodie.bootstrap.index.type"
_INDEX_TYPES: Final = {
    "org.apache.hudi.common.bootstrap.index.HFileBootstrapIndex": "HFILE",
    "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex": "HFILE",
    "org.apache.hudi.common.bootstrap.index.NoOpBootstrapIndex": "NO_OP",
}
_INDEX_CLASSES: Final = {
    "HFILE": "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex",
    "NO_OP": "org.apache.hudi.common.bootstrap.index.NoOpBootstrapIndex",
}
#: Debezium tables of MySQL are ordered by two columns from version 9 on, before by one that joins them.
_ORDERING_BEFORE_9: Final = {"org.apache.hudi.common.model.debezium.MySqlDebeziumAvroPayload": "_event_seq"}


def properties_of_version(config: TableConfig, to: TableVersion) -> Properties:
    """Return all properties of a table as they are in another version; checksum and indexes are the caller's.

    Raises:
        UnsupportedError: the table's merge mode or key generator is not known.

    Example:
        >>> from pyhudi.spec.table.table_config import new_table_properties
        >>> config = TableConfig(new_table_properties(name="t", version=6))
        >>> properties_of_version(config, TableVersion.NINE)["hoodie.timeline.layout.version"]
        '2'
    """
    properties = dict(config.properties)
    for step in steps(TableVersion(config.version), to):
        properties = _STEPS[step](TableConfig(properties))
    return properties


def steps(origin: TableVersion, to: TableVersion) -> tuple[tuple[TableVersion, TableVersion], ...]:
    """Return the pairs of neighbouring versions between two versions, in order.

    Example:
        >>> [(int(a), int(b)) for a, b in steps(TableVersion.NINE, TableVersion.SIX)]
        [(9, 8), (8, 6)]
    """
    versions = sorted(TableVersion, reverse=to < origin)
    passed = versions[versions.index(origin) : versions.index(to) + 1]
    return tuple(itertools.pairwise(passed))


def _six_to_eight(config: TableConfig) -> Properties:
    mode = config.merge_mode
    payload = config.properties.get(keys.PAYLOAD_CLASS) or mode.payload_class or ""
    changed = {
        **config.properties,
        **_version(TableVersion.EIGHT),
        keys.TIMELINE_PATH: config.properties.get(keys.TIMELINE_PATH) or "timeline",
        keys.HISTORY_PATH: config.properties.get(keys.HISTORY_PATH) or "history",
        keys.INITIAL_VERSION: str(int(TableVersion.SIX)),
        keys.KEY_GENERATOR_TYPE: config.key_generator.value,
        keys.MERGE_MODE: mode.value,
        keys.MERGE_STRATEGY_ID: mode.strategy_id or config.properties.get(keys.MERGE_STRATEGY_ID) or PAYLOAD_STRATEGY,
        keys.PAYLOAD_CLASS: payload,
        _INDEX_TYPE: _INDEX_TYPES.get(config.properties.get(_INDEX_CLASS, ""), config.properties.get(_INDEX_TYPE, "")),
        _OLD_STRATEGY: "",
    }
    return _without_empty(changed)


def _eight_to_nine(config: TableConfig) -> Properties:
    stored = config.properties
    payload_class = stored.get(keys.PAYLOAD_CLASS, "")
    payload = PAYLOADS.get(payload_class)
    mode = config.merge_mode if payload is None or payload.is_plain else payload.mode
    ordering = ",".join(config.ordering_fields) if payload is None or not payload.ordering else ",".join(payload.ordering)
    changed = {
        **stored,
        **_version(TableVersion.NINE),
        keys.MERGE_MODE: mode.value,
        keys.MERGE_STRATEGY_ID: stored.get(keys.MERGE_STRATEGY_ID, "") if mode is MergeMode.CUSTOM else "",
        keys.ORDERING_FIELDS: ordering,
        keys.PRECOMBINE_FIELD: "",
    }
    if payload is not None:
        changed[keys.PAYLOAD_CLASS] = ""
        changed[keys.LEGACY_PAYLOAD_CLASS] = payload_class
        changed[keys.PARTIAL_UPDATE_MODE] = payload.partial or ""
        changed |= {keys.MERGE_PROPERTY_PREFIX + name: value for name, value in payload.settings.items()}
    return _without_empty(changed)


def _nine_to_eight(config: TableConfig) -> Properties:
    stored = config.properties
    payload_class = stored.get(keys.LEGACY_PAYLOAD_CLASS) or stored.get(keys.PAYLOAD_CLASS, "")
    payload = PAYLOADS.get(payload_class)
    mode = config.merge_mode if payload is None or payload.is_plain else MergeMode.CUSTOM
    by_strategy = stored.get(keys.MERGE_STRATEGY_ID) if mode is MergeMode.CUSTOM else None
    changed = {
        **stored,
        **_version(TableVersion.EIGHT),
        keys.MERGE_MODE: mode.value,
        keys.MERGE_STRATEGY_ID: mode.strategy_id or by_strategy or (PAYLOAD_STRATEGY if payload_class else ""),
        keys.PAYLOAD_CLASS: payload_class or mode.payload_class or "",
        keys.PRECOMBINE_FIELD: _ORDERING_BEFORE_9.get(payload_class, ",".join(config.ordering_fields)),
        **dict.fromkeys((keys.LEGACY_PAYLOAD_CLASS, keys.PARTIAL_UPDATE_MODE, keys.ORDERING_FIELDS, keys.TABLE_FORMAT), ""),
    }
    if payload is not None:
        changed |= dict.fromkeys((keys.MERGE_PROPERTY_PREFIX + name for name in payload.settings), "")
    return _without_empty(changed)


def _eight_to_six(config: TableConfig) -> Properties:
    stored = config.properties
    changed = {
        **stored,
        **_version(TableVersion.SIX),
        keys.PAYLOAD_CLASS: stored.get(keys.PAYLOAD_CLASS) or config.merge_mode.payload_class or "",
        keys.PRECOMBINE_FIELD: ",".join(config.ordering_fields),
        keys.PARTITION_FIELDS: ",".join(config.partition_fields),
        keys.KEY_GENERATOR_CLASS: stored.get(keys.KEY_GENERATOR_CLASS) or config.key_generator.class_name or "",
        keys.ARCHIVE_FOLDER: stored.get(keys.ARCHIVE_FOLDER) or "archived",
        _INDEX_CLASS: stored.get(_INDEX_CLASS) or _INDEX_CLASSES.get(stored.get(_INDEX_TYPE, ""), ""),
        **dict.fromkeys((keys.MERGE_MODE, keys.MERGE_STRATEGY_ID, keys.INITIAL_VERSION), ""),
    }
    return _without_empty(changed)


_SIX, _EIGHT, _NINE = TableVersion.SIX, TableVersion.EIGHT, TableVersion.NINE
_STEPS: Final[Mapping[tuple[TableVersion, TableVersion], Callable[[TableConfig], Properties]]] = {
    (_SIX, _EIGHT): _six_to_eight,
    (_EIGHT, _NINE): _eight_to_nine,
    (_NINE, _EIGHT): _nine_to_eight,
    (_EIGHT, _SIX): _eight_to_six,
}


def _version(version: TableVersion) -> Properties:
    return {keys.VERSION: str(int(version)), keys.LAYOUT: str(version.layout)}


def _without_empty(properties: Mapping[str, str]) -> Properties:
    """Drop entries without a value: the lines that a version does not have."""
    return {name: value for name, value in properties.items() if value}
