"""Tables that take values from several versions of a row: created, written and merged as by Apache Hudi 1.2.0, on both table types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.merge.custom import register_merger
from pyhudi.merge.partial_update import Record
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table, ride

MODEL = "org.apache.hudi.common.model."
PARTIAL, NON_DEFAULTS = MODEL + "PartialUpdateAvroPayload", MODEL + "OverwriteNonDefaultsWithLatestAvroPayload"
SCHEMA = pa.schema({"id": pa.string(), "ts": pa.int64(), "n": pa.int32(), "note": pa.string()})
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
Rows = list[tuple[Any, ...]]

FIRST: Rows = [*((key, 10, 1, f"{key}0") for key in "abcdef"), ("x", 10, None, None), ("y", 10, None, None)]
#: Two rows of one key, in and out of order; late rows that fill a gap of the stored row, and some that have nothing to fill.
BATCH: Rows = [
    ("a", 20, None, "a1"),
    ("a", 15, 7, None),
    ("b", 15, 7, None),
    ("b", 20, None, "b1"),
    ("c", 5, 9, None),
    ("x", 5, 9, None),
    ("x", 4, None, "x4"),
    ("d", 20, None, None),
    ("e", 20, None, "e1"),
    ("e", 20, 5, None),
    ("y", 15, 3, None),
    ("y", 4, None, "y4"),
]
#: What Apache Hudi's tables hold then, copy-on-write and merge-on-read.
BY_EVENT_TIME: Rows = [
    ("a", 20, 7, "a1"),
    ("b", 20, 7, "b1"),
    ("c", 10, 1, "c0"),
    ("d", 20, 1, "d0"),
    ("e", 20, 5, "e1"),
    ("f", 10, 1, "f0"),
    ("x", 10, 9, "x4"),
    ("y", 15, 3, "y4"),
]
#: Before version 9 rows of one batch go by their ordering values, and do not fill each other.
OLDER: Rows = [
    ("a", 20, 1, "a1"),
    ("b", 20, 1, "b1"),
    ("c", 5, 9, "c0"),
    ("d", 20, 1, "d0"),
    ("e", 20, 5, "e0"),
    ("f", 10, 1, "f0"),
    ("x", 5, 9, None),
    ("y", 15, 3, None),
]
BY_COMMIT_TIME: Rows = [
    ("a", 15, 7, "a1"),
    ("b", 20, 7, "b1"),
    ("c", 5, 9, "c0"),
    ("d", 20, 1, "d0"),
    ("e", 20, 5, "e1"),
    ("f", 10, 1, "f0"),
    ("x", 4, 9, "x4"),
    ("y", 4, 3, "y4"),
]


class AddUp:
    """Adds numbers up; a sum of 0 deletes the row, and a row without number changes nothing."""

    def merge(self, older: Record, newer: Record) -> Record | None:
        if newer["n"] is None:
            return older
        total = older["n"] + newer["n"]
        return {**newer, "n": total} if total else None


def table_of(kind: str, options: Mapping[str, str], schema: pa.Schema = SCHEMA) -> HudiTable:
    return make_table(schema=schema, keys=["id"], order_by=["ts"], table_type=kind, options=options)


def data(rows: Rows, schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def rows_of(table: HudiTable) -> Rows:
    return sorted(tuple(row.values()) for row in table.to_arrow().to_pylist())


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("payload", "version", "expected"),
    [
        *((PARTIAL, version, BY_EVENT_TIME) for version in ("6", "8", "9")),
        (NON_DEFAULTS, "6", OLDER),
        (NON_DEFAULTS, "8", OLDER),
        (NON_DEFAULTS, "9", BY_COMMIT_TIME),
    ],
)
def test_rows_are_filled_from_each_other_and_from_what_is_stored(kind: str, payload: str, expected: Rows, version: str) -> None:
    table = table_of(kind, {"hoodie.datasource.write.payload.class": payload, "hoodie.write.table.version": version})
    table.insert(data(FIRST))
    table.upsert(data(BATCH), options={"hoodie.datasource.write.payload.class": payload})
    assert rows_of(table) == expected
    if kind == "MERGE_ON_READ":
        table.services.compact()
        assert rows_of(table) == expected


@pytest.mark.parametrize("kind", TYPES)
def test_values_that_a_database_left_out_are_filled_in(kind: str) -> None:
    schema = pa.schema({"id": pa.string(), "_event_lsn": pa.int64(), "_change_operation_type": pa.string(), "note": pa.string()})
    options = {"hoodie.datasource.write.payload.class": MODEL + "debezium.PostgresDebeziumAvroPayload"}
    table = make_table(schema=schema, keys=["id"], order_by=["_event_lsn"], table_type=kind, options=options)
    table.insert(data([(key, 10, "c", f"{key}0") for key in "abcd"], schema))
    absent = "__debezium_unavailable_value"
    table.upsert(data([("a", 20, "u", absent), ("b", 5, "u", "b1"), ("c", 20, "d", "c1"), ("d", 5, "d", "d1")], schema))
    assert [(row[0], row[3]) for row in rows_of(table)] == [("a", "a0"), ("b", "b0"), ("d", "d0")]


@pytest.mark.parametrize("kind", TYPES)
def test_a_row_that_its_own_column_marks_is_a_delete(kind: str) -> None:
    schema = pa.schema({"id": pa.string(), "ts": pa.int64(), "Op": pa.string()})
    table = table_of(kind, {"hoodie.datasource.write.payload.class": MODEL + "AWSDmsAvroPayload"}, schema)
    table.insert(data([("a", 10, "I"), ("b", 10, "I")], schema))
    table.upsert(data([("a", 5, "D"), ("b", 5, "U"), ("x", 1, "D")], schema))
    assert rows_of(table) == [("b", 5, "U")]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("named_by", ["hoodie.datasource.write.payload.class", "hoodie.write.record.merge.strategy.id"])
def test_rows_are_merged_by_a_merger_of_the_owners(kind: str, named_by: str) -> None:
    register_merger("com.example.AddUp", AddUp())
    table = table_of(kind, {named_by: "com.example.AddUp", "hoodie.record.merge.mode": "CUSTOM"})
    table.insert(data([(key, 1, 1, None) for key in "abcd"]))
    pairs: Rows = [("a", 0, 2, "a1"), ("a", 0, 3, "a2"), ("e", 0, 5, "e1"), ("e", 0, 6, "e2")]
    table.upsert(data([*pairs, ("b", 0, None, "b1"), ("c", 0, -1, None)]))
    expected = [("a", 0, 6, "a2"), ("b", 1, 1, None), ("d", 1, 1, None), ("e", 0, 11, "e2")]
    assert rows_of(table) == expected
    if kind == "MERGE_ON_READ":
        table.services.compact()
        assert rows_of(table) == expected


def test_a_row_that_was_filled_from_a_late_one_is_one_that_this_commit_changed() -> None:
    table = table_of("COPY_ON_WRITE", {"hoodie.datasource.write.payload.class": PARTIAL})
    table.insert(data(FIRST))
    result = table.upsert(data([("c", 5, 9, None), ("x", 5, 9, None)]))
    assert (result.updated, result.late_dropped) == (1, 1)
    changed = table.to_arrow(meta_columns=True).filter(pc.field("_hoodie_commit_time") == result.instant)
    assert changed.column("id").to_pylist() == ["x"]


def lines(table: HudiTable) -> dict[str, str]:
    with_subject = ("merge", "payload", "partial")
    return {name: value for name, value in table.config.properties.items() if any(word in name for word in with_subject)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"payloadClass": PARTIAL},
            {
                "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
                "hoodie.table.legacy.payload.class": PARTIAL,
                "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS",
            },
        ),
        (
            {"payloadClass": PARTIAL, "hoodie.write.table.version": "8"},
            {
                "hoodie.record.merge.mode": "CUSTOM",
                "hoodie.compaction.payload.class": PARTIAL,
                "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
            },
        ),
        (
            {"payloadClass": PARTIAL, "hoodie.write.table.version": "6"},
            {
                "hoodie.compaction.payload.class": PARTIAL,
                "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
            },
        ),
        (
            {"payloadClass": MODEL + "AWSDmsAvroPayload"},
            {
                "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
                "hoodie.table.legacy.payload.class": MODEL + "AWSDmsAvroPayload",
                "hoodie.record.merge.property.hoodie.payload.delete.field": "Op",
                "hoodie.record.merge.property.hoodie.payload.delete.marker": "D",
            },
        ),
    ],
)
def test_a_new_table_says_how_it_merges_as_apache_hudi_says_it(options: dict[str, str], expected: dict[str, str]) -> None:
    assert lines(table_of("COPY_ON_WRITE", options)) == expected


def test_a_class_that_nobody_registered_is_refused_before_a_table_is_made() -> None:
    with pytest.raises(UnsupportedError, match=r"com\.example\.Nobody"):
        table_of("COPY_ON_WRITE", {"payloadClass": "com.example.Nobody"})


def test_a_custom_mode_that_does_not_say_by_what_is_refused() -> None:
    with pytest.raises(OptionError, match="CUSTOM does not say"):
        table_of("COPY_ON_WRITE", {"hoodie.record.merge.mode": "CUSTOM"})


def test_a_mode_that_contradicts_the_class_is_refused() -> None:
    with pytest.raises(OptionError, match="contradict"):
        table_of("COPY_ON_WRITE", {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "payloadClass": PARTIAL})


def test_a_write_with_another_class_than_the_tables_is_refused() -> None:
    table = table_of("COPY_ON_WRITE", {"payloadClass": PARTIAL})
    with pytest.raises(OptionError, match="contradicts table"):
        table.upsert(data(FIRST), options={"payloadClass": NON_DEFAULTS})


def test_a_write_with_a_class_to_a_table_without_one_is_refused() -> None:
    table = make_table()
    with pytest.raises(OptionError, match=r"hoodie\.properties has no hoodie\.compaction\.payload\.class\. To delete the rows"):
        table.upsert([ride(1)], options={"payloadClass": "org.apache.hudi.common.model.EmptyHoodieRecordPayload"})


def test_an_index_that_would_move_rows_away_from_their_earlier_versions_is_refused() -> None:
    options = {"payloadClass": PARTIAL}
    table = make_table(schema=SCHEMA, keys=["id"], partition_by=["note"], order_by=["ts"], options=options)
    with pytest.raises(UnsupportedError, match="GLOBAL_SIMPLE"):
        table.upsert(data(FIRST), options={"hoodie.index.type": "GLOBAL_SIMPLE"})


def test_rows_that_a_column_of_the_owners_marks_are_deletes() -> None:
    settings = {"hoodie.payload.delete.field": "note", "hoodie.payload.delete.marker": "gone"}
    table = table_of("MERGE_ON_READ", settings)
    table.insert(data([("a", 1, 1, None), ("b", 5, 1, None)]))
    table.upsert(data([("a", 2, 1, "gone"), ("b", 2, 1, "gone")]), options=settings)
    assert rows_of(table) == [("b", 5, 1, None)]


def test_a_column_of_deletes_without_a_marker_is_refused() -> None:
    with pytest.raises(OptionError, match="give both or none"):
        table_of("COPY_ON_WRITE", {"hoodie.payload.delete.field": "note"})
