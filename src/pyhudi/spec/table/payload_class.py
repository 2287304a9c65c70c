"""Payload classes: what each of Hudi's own stands for, in the terms that version 9 has in their place.

Rules: `HoodieRecordPayload` and its implementations, RFC-97; docs/format/merging.md#merge-configuration. Java classes are names here, none
is ever loaded.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.errors import UnsupportedError
from pyhudi.spec.table.merge_mode import MergeMode

DELETE_FIELD = "hoodie.payload.delete.field"
DELETE_MARKER = "hoodie.payload.delete.marker"
UNAVAILABLE = "hoodie.write.partial.update.unavailable.value"

#: The settings of merging that a table can have, each in `hoodie.properties` after `table_keys.MERGE_PROPERTY_PREFIX`.
MERGE_SETTINGS = (DELETE_FIELD, DELETE_MARKER, UNAVAILABLE)
#: What Debezium sends for a value that the database left out.
DEBEZIUM_UNAVAILABLE = "__debezium_unavailable_value"


class PartialMode(enum.StrEnum):
    """What counts as a gap: the field's default in the schema, or a text that stands for a value that was not sent."""

    IGNORE_DEFAULTS = "IGNORE_DEFAULTS"
    FILL_UNAVAILABLE = "FILL_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Payload:
    """What a payload class stands for.

    `delete` are field and marker of deletes; `ordering` the fields that override the table's own where it has them as columns.
    """

    mode: MergeMode
    partial: PartialMode | None = None
    delete: tuple[str, str] | None = None
    ordering: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """True when the merge mode says it all."""
        return self.partial is None and self.delete is None

    @property
    def settings(self) -> dict[str, str]:
        """The settings of merging that the class implies."""
        by_key = dict(zip((DELETE_FIELD, DELETE_MARKER), self.delete or (), strict=False))
        return by_key | ({UNAVAILABLE: DEBEZIUM_UNAVAILABLE} if self.partial is PartialMode.FILL_UNAVAILABLE else {})


_EVENT_TIME, _COMMIT_TIME = MergeMode.EVENT_TIME_ORDERING, MergeMode.COMMIT_TIME_ORDERING
_MODEL = "org.apache.hudi.common.model."
_CHANGE = ("_change_operation_type", "d")
PAYLOADS: Mapping[str, Payload] = {
    _MODEL + "DefaultHoodieRecordPayload": Payload(_EVENT_TIME),
    _MODEL + "EventTimeAvroPayload": Payload(_EVENT_TIME),
    _MODEL + "OverwriteWithLatestAvroPayload": Payload(_COMMIT_TIME),
    _MODEL + "PartialUpdateAvroPayload": Payload(_EVENT_TIME, PartialMode.IGNORE_DEFAULTS),
    _MODEL + "OverwriteNonDefaultsWithLatestAvroPayload": Payload(_COMMIT_TIME, PartialMode.IGNORE_DEFAULTS),
    _MODEL + "AWSDmsAvroPayload": Payload(_COMMIT_TIME, delete=("Op", "D")),
    _MODEL + "debezium.MySqlDebeziumAvroPayload": Payload(_EVENT_TIME, delete=_CHANGE, ordering=("_event_bin_file", "_event_pos")),
    _MODEL + "debezium.PostgresDebeziumAvroPayload": Payload(
        _EVENT_TIME, PartialMode.FILL_UNAVAILABLE, delete=_CHANGE, ordering=("_event_lsn",)
    ),
    # What MERGE INTO writes with: the rows that come to the files are its results.
    "org.apache.spark.sql.hudi.command.payload.ExpressionPayload": Payload(_EVENT_TIME),
}


def parse_partial_mode(text: str) -> PartialMode:
    """Return the mode that a table or an option names.

    Raises:
        UnsupportedError: no mode has this name.
    """
    try:
        return PartialMode(text.strip().upper())
    except ValueError:
        known = ", ".join(PartialMode)
        raise UnsupportedError(f"hoodie.table.partial.update.mode={text} is unknown; known are {known}") from None
