"""How a new table is to merge, and the lines of `hoodie.properties` that say so in each table version.

Rules: `HoodieTableConfig.inferMergingConfigsForWrites`, RFC-97. Version 9 has modes and settings; version 8 a mode, a class and the id of a
strategy; version 6 a class and the id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyhudi.errors import OptionError
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.merge_mode import CUSTOM_STRATEGY, PAYLOAD_STRATEGY, MergeMode, infer_merge_mode
from pyhudi.spec.table.payload_class import DELETE_FIELD, DELETE_MARKER, PAYLOADS, PartialMode, Payload
from pyhudi.spec.table.table_version import TableVersion


@dataclass(frozen=True, slots=True)
class NewMerging:
    """What the creator of a table says about merging; everything may be left open.

    `settings` are those of `pyhudi.spec.table.payload_class.MERGE_SETTINGS`.
    """

    mode: MergeMode | None = None
    payload_class: str | None = None
    strategy_id: str | None = None
    partial: PartialMode | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def merge_properties(version: TableVersion, new_merging: NewMerging, ordering_fields: Sequence[str]) -> dict[str, str]:
    """Return the lines about merging of a new table's properties; empty values stand for lines that it does not have.

    Raises:
        OptionError: the parts contradict each other, do not say by what to merge, or need a newer table version.
    """
    mode = _mode(new_merging, ordering_fields)
    payload = PAYLOADS.get(new_merging.payload_class or "")
    _check_deletes(new_merging, payload)
    prefixed = {keys.MERGE_PROPERTY_PREFIX + name: value for name, value in new_merging.settings.items()}
    if version is not TableVersion.NINE:
        if new_merging.partial is not None:
            raise OptionError(f"{keys.PARTIAL_UPDATE_MODE}={new_merging.partial} needs table version 9; older tables name a payload class.")
        return prefixed | _older(version, new_merging, mode, is_plain=payload is None or payload.is_plain)
    if payload is None:
        by_class = {keys.PAYLOAD_CLASS: new_merging.payload_class or "", keys.PARTIAL_UPDATE_MODE: new_merging.partial or ""}
        return {keys.MERGE_MODE: mode, keys.MERGE_STRATEGY_ID: _strategy(new_merging, mode, version), **by_class, **prefixed}
    settings = {keys.MERGE_PROPERTY_PREFIX + name: value for name, value in payload.settings.items()}
    return {
        keys.MERGE_MODE: mode,
        keys.LEGACY_PAYLOAD_CLASS: new_merging.payload_class or "",
        keys.PARTIAL_UPDATE_MODE: new_merging.partial or payload.partial or "",
        **settings,
        **prefixed,
    }


def _check_deletes(new_merging: NewMerging, payload: Payload | None) -> None:
    settings = {**(payload.settings if payload is not None else {}), **new_merging.settings}
    if (DELETE_FIELD in settings) != (DELETE_MARKER in settings):
        raise OptionError(f"{DELETE_FIELD} and {DELETE_MARKER} say together which rows are deletes: give both or none.")


def _older(version: TableVersion, new_merging: NewMerging, mode: MergeMode, *, is_plain: bool) -> dict[str, str]:
    """Return the lines of versions 6 and 8, to which a class that says more than a mode is a custom one."""
    if not is_plain:
        mode = MergeMode.CUSTOM
    properties = {
        keys.PAYLOAD_CLASS: new_merging.payload_class or mode.payload_class or "",
        keys.MERGE_STRATEGY_ID: _strategy(new_merging, mode, version),
    }
    return properties if version is TableVersion.SIX else {keys.MERGE_MODE: mode, **properties}


def _strategy(new_merging: NewMerging, mode: MergeMode, version: TableVersion) -> str:
    if mode is not MergeMode.CUSTOM:
        return "" if version is TableVersion.NINE else mode.strategy_id or ""
    if new_merging.strategy_id not in (None, CUSTOM_STRATEGY, PAYLOAD_STRATEGY) or not new_merging.payload_class:
        return new_merging.strategy_id or ""
    return PAYLOAD_STRATEGY


def _mode(new_merging: NewMerging, ordering_fields: Sequence[str]) -> MergeMode:
    """Return the mode that the parts come to.

    Raises:
        OptionError: they contradict each other, or the mode is CUSTOM and nothing says by what.
    """
    payload = PAYLOADS.get(new_merging.payload_class or "")
    if payload is not None:
        inferred = payload.mode
    else:
        inferred = infer_merge_mode(
            payload_class=new_merging.payload_class, strategy_id=new_merging.strategy_id, has_ordering=bool(ordering_fields)
        )
    mode = new_merging.mode or inferred
    stated = new_merging.payload_class or new_merging.strategy_id
    if payload is not None and not payload.is_plain and mode is MergeMode.CUSTOM:
        return payload.mode
    if stated and mode is not inferred:
        raise OptionError(f"{keys.MERGE_MODE}={mode} and {stated} contradict each other: that one means {inferred}.")
    if mode is MergeMode.CUSTOM and not stated:
        raise OptionError(
            f"{keys.MERGE_MODE}=CUSTOM does not say by what to merge: name a payload class (hoodie.datasource.write.payload.class) or a "
            "strategy (hoodie.write.record.merge.strategy.id), and register a merger under that name (pyhudi.register_merger)."
        )
    return mode
