"""How a table merges, from its properties."""

from __future__ import annotations

import pytest

from pyhudi.errors import UnsupportedError
from pyhudi.merge.choose_merger import MergeRule, merge_rule
from pyhudi.merge.custom import register_merger
from pyhudi.merge.partial_update import FillPolicy, Record
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import PartialMode
from pyhudi.spec.table.table_config import TableConfig

MODEL = "org.apache.hudi.common.model."


def rule(version: int = 8, columns: frozenset[str] = frozenset(), **properties: str) -> MergeRule:
    names = {"payload": "hoodie.compaction.payload.class", "mode": "hoodie.record.merge.mode", "ordering": "hoodie.table.ordering.fields"}
    required = {"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": str(version)}
    layout = {"hoodie.timeline.layout.version": "1" if version == 6 else "2"}
    given = {names.get(name, name.replace("__", ".")): value for name, value in properties.items()}
    return merge_rule(TableConfig(required | layout | given), columns)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DefaultHoodieRecordPayload", MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))),
        ("EventTimeAvroPayload", MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))),
        ("OverwriteWithLatestAvroPayload", MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",))),
        ("PartialUpdateAvroPayload", MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",), FillPolicy(PartialMode.IGNORE_DEFAULTS))),
        (
            "OverwriteNonDefaultsWithLatestAvroPayload",
            MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",), FillPolicy(PartialMode.IGNORE_DEFAULTS), combines_by_ordering=True),
        ),
        ("AWSDmsAvroPayload", MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",), None, "Op", "D", combines_by_ordering=True)),
    ],
)
@pytest.mark.parametrize("version", [6, 8])
def test_a_known_payload_class_stands_for_a_mode(name: str, expected: MergeRule, version: int) -> None:
    assert rule(version, payload=MODEL + name, ordering="ts") == expected


def test_the_change_data_of_mysql_is_ordered_by_binlog_file_and_position() -> None:
    result = rule(
        payload=MODEL + "debezium.MySqlDebeziumAvroPayload", columns=frozenset({"_event_bin_file", "_event_pos"}), ordering="_event_seq"
    )
    assert (result.ordering_fields, result.delete_field, result.delete_marker) == (
        ("_event_bin_file", "_event_pos"),
        "_change_operation_type",
        "d",
    )


def test_the_change_data_of_postgres_fills_values_that_were_not_sent() -> None:
    result = rule(payload=MODEL + "debezium.PostgresDebeziumAvroPayload", columns=frozenset({"_event_lsn"}), ordering="_event_lsn")
    assert result.fill_policy == FillPolicy(PartialMode.FILL_UNAVAILABLE, "__debezium_unavailable_value")


def test_version_9_says_it_in_modes_and_properties() -> None:
    prefix = "hoodie__record__merge__property__hoodie__"
    result = rule(
        9,
        mode="EVENT_TIME_ORDERING",
        ordering="ts",
        hoodie__table__partial__update__mode="FILL_UNAVAILABLE",
        **{  # type: ignore[arg-type]
            f"{prefix}write__partial__update__unavailable__value": "gone",
            f"{prefix}payload__delete__field": "op",
            f"{prefix}payload__delete__marker": "x",
        },
    )
    assert result == MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",), FillPolicy(PartialMode.FILL_UNAVAILABLE, "gone"), "op", "x")


def test_an_unknown_payload_class_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"com\.example\.Unknown"):
        rule(mode="CUSTOM", payload="com.example.Unknown")


def test_a_custom_strategy_that_nobody_registered_is_refused_by_its_id() -> None:
    with pytest.raises(UnsupportedError, match="3a1f"):
        rule(mode="CUSTOM", hoodie__record__merge__strategy__id="3a1f")


def test_a_registered_merger_is_found_by_the_class_that_the_table_names() -> None:
    class KeepFirst:
        def merge(self, older: Record, newer: Record) -> Record | None:
            return older

    merger = KeepFirst()
    register_merger("com.example.KeepFirst", merger)
    assert rule(mode="CUSTOM", payload="com.example.KeepFirst").merger is merger


def test_an_unknown_partial_mode_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="SOMETHING_NEW"):
        rule(9, mode="COMMIT_TIME_ORDERING", hoodie__table__partial__update__mode="SOMETHING_NEW")
