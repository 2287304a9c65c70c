"""How a table merges two versions of a record, from its properties.

Rules: `HoodieTableConfig.inferMergingConfigs`, `HoodieRecordPayload` and its implementations, RFC-97 (version 9 has modes and
properties in the place of payload classes); docs/format/merging.md#merge-configuration. A payload class that older versions name is taken
for what version 9 makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.merge.custom import RecordMerger, find_merger
from pyhudi.merge.partial_update import FillPolicy
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import (
    DEBEZIUM_UNAVAILABLE,
    DELETE_FIELD,
    DELETE_MARKER,
    PAYLOADS,
    UNAVAILABLE,
    PartialMode,
    Payload,
    parse_partial_mode,
)
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion


@dataclass(frozen=True, slots=True)
class MergeRule:
    """Everything that decides between two versions of a record; see `RecordContext` for the fields."""

    mode: MergeMode
    ordering_fields: tuple[str, ...]
    fill_policy: FillPolicy | None = None
    delete_field: str | None = None
    delete_marker: str | None = None
    merger: RecordMerger | None = None
    combines_by_ordering: bool = False


def merge_rule(config: TableConfig, columns: frozenset[str]) -> MergeRule:
    """Return how the table merges.

    Args:
        config: the table's configuration.
        columns: names of the data columns.

    Raises:
        UnsupportedError: it merges by a class that is not known here, or by an unknown mode.
    """
    payload_class = config.properties.get(keys.PAYLOAD_CLASS)
    payload = PAYLOADS.get(payload_class or "")
    stored = config.merge_mode
    if payload is None and stored is MergeMode.CUSTOM:
        merger = find_merger(payload_class, config.properties.get(keys.MERGE_STRATEGY_ID))
        field, marker = _deletes(config, None)
        return MergeRule(stored, config.ordering_fields, None, field, marker, merger)
    payload = payload or Payload(stored)
    mode = payload.mode if stored is MergeMode.CUSTOM else stored
    fields = payload.ordering if payload.ordering and columns.issuperset(payload.ordering) else config.ordering_fields
    # Before version 9 such a class has rules of its own for the rows of one batch: the greatest ordering value stays, whole.
    by_ordering = config.version < TableVersion.NINE and payload.mode is MergeMode.COMMIT_TIME_ORDERING and not payload.is_plain
    return MergeRule(mode, fields, _fill_policy(config, payload), *_deletes(config, payload), combines_by_ordering=by_ordering)


def _fill_policy(config: TableConfig, payload: Payload) -> FillPolicy | None:
    text = config.properties.get(keys.PARTIAL_UPDATE_MODE, "")
    mode = parse_partial_mode(text) if text and text.upper() != "NONE" else payload.partial
    if mode is not PartialMode.FILL_UNAVAILABLE:
        return None if mode is None else FillPolicy(mode)
    return FillPolicy(mode, marker=_property(config, UNAVAILABLE) or DEBEZIUM_UNAVAILABLE)


def _deletes(config: TableConfig, payload: Payload | None) -> tuple[str | None, str | None]:
    """Return field and marker of deletes."""
    implied = payload.delete if payload is not None and payload.delete is not None else (None, None)
    return _property(config, DELETE_FIELD) or implied[0], _property(config, DELETE_MARKER) or implied[1]


def _property(config: TableConfig, name: str) -> str | None:
    """Return a setting of the merging, with or without the prefix that version 9 gives it."""
    return config.properties.get(keys.MERGE_PROPERTY_PREFIX + name) or config.properties.get(name)
