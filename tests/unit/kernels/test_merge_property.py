"""Merging on columns gives what the rules give row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.dedupe import precombine
from pyhudi.kernels.merge.merge_join import IncomingRows, MergedBatch
from pyhudi.merge.merge_rules import RecordVersion, combine_versions, incoming_wins
from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.spec.table.merge_mode import MergeMode

SCHEMA = pa.schema({"ts": pa.float64(), "tie": pa.string(), "_hoodie_is_deleted": pa.bool_(), "n": pa.int64()})
ORDERING = ("ts", "tie")
KEYS = ["k1", "k2", "k3"]

row = st.fixed_dictionaries(
    {
        "_hoodie_record_key": st.sampled_from(KEYS),
        "ts": st.sampled_from([None, -1.0, -0.0, 0.0, 2.5, float("inf"), float("nan")]),
        "tie": st.sampled_from([None, "", "a", "é"]),
        "_hoodie_is_deleted": st.sampled_from([None, False, True]),
        "_pyhudi_delete": st.sampled_from([False, False, True]),
    }
)
batches = st.lists(row, max_size=12)
one_of_each = st.lists(row, max_size=3, unique_by=lambda entry: entry["_hoodie_record_key"])
modes = st.sampled_from([MergeMode.COMMIT_TIME_ORDERING, MergeMode.EVENT_TIME_ORDERING])


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    numbered = [{**entry, "n": number} for number, entry in enumerate(rows)]
    fields = [
        ("_hoodie_record_key", pa.string()),
        ("_pyhudi_delete", pa.bool_()),
        *zip(SCHEMA.names, SCHEMA.types, strict=True),
    ]
    return pa.Table.from_pylist(numbered, schema=pa.schema(fields))


def version(entry: dict[str, Any]) -> RecordVersion:
    hard = entry["_pyhudi_delete"]
    return RecordVersion({}, (entry["ts"], entry["tie"]), hard or bool(entry["_hoodie_is_deleted"]), hard)


@given(batches, modes)
def test_combining_a_batch_keeps_what_the_rule_keeps(rows: list[dict[str, Any]], mode: MergeMode) -> None:
    expected = []
    for key in KEYS:
        indices = [index for index, entry in enumerate(rows) if entry["_hoodie_record_key"] == key]
        if indices:
            expected.append(indices[combine_versions([version(rows[index]) for index in indices], mode)])
    context = RecordContext("t", SCHEMA, arrow_to_avro(SCHEMA, "t"), ORDERING, mode)
    assert precombine(table_of(rows), context).column("n").to_pylist() == sorted(expected)


@settings(max_examples=300)
@given(one_of_each, one_of_each, modes)
def test_merging_into_a_file_does_what_the_rule_does(stored: list[dict[str, Any]], incoming: list[dict[str, Any]], mode: MergeMode) -> None:
    context = RecordContext("t", SCHEMA, arrow_to_avro(SCHEMA, "t"), ORDERING, mode)
    old = [{**entry, "_pyhudi_delete": False} for entry in stored]
    by_key = {entry["_hoodie_record_key"]: number for number, entry in enumerate(incoming)}
    retained: list[int] = []
    replaced: list[int] = []
    in_order: list[int] = []
    deleted = late_dropped = 0
    for number, entry in enumerate(old):
        index = by_key.pop(entry["_hoodie_record_key"], None)
        if index is None:
            retained.append(number)
            in_order.append(number)
        elif not incoming_wins(version(entry), version(incoming[index]), mode):
            retained.append(number)
            in_order.append(number)
            late_dropped += 1
        elif version(incoming[index]).deletes:
            deleted += 1
        else:
            in_order.append(len(stored) + len(replaced))
            replaced.append(index)
    inserted = sorted(index for index in by_key.values() if not version(incoming[index]).deletes)

    rows = IncomingRows(table_of(incoming), context)
    batch = rows.merge(table_of(old).drop_columns("_pyhudi_delete"))
    assert batch.retained.column("n").to_pylist() == retained
    assert batch.replacements.column("n").to_pylist() == replaced
    assert batch.order.tolist() == in_order
    assert (batch.deleted, rows.late_dropped) == (deleted, late_dropped)
    assert rows.inserts().column("n").to_pylist() == inserted


@settings(max_examples=60)
@given(batches, one_of_each, modes, st.lists(st.sampled_from(["known", "several", "absent"]), min_size=3, max_size=3), st.integers(0, 12))
def test_known_positions_change_nothing(
    stored: list[dict[str, Any]], incoming: list[dict[str, Any]], mode: MergeMode, states: list[str], cut: int
) -> None:
    context = RecordContext("t", SCHEMA, arrow_to_avro(SCHEMA, "t"), ORDERING, mode)
    keys = [entry["_hoodie_record_key"] for entry in stored]
    positions = [position_of(entry["_hoodie_record_key"], keys, what) for entry, what in zip(incoming, states, strict=False)]
    plain = table_of(incoming)
    located = plain.append_column("_pyhudi_position", pa.array(positions, pa.int64()))
    old = table_of(stored).drop_columns("_pyhudi_delete")
    results = []
    for rows in (IncomingRows(plain, context), IncomingRows(located, context)):
        merged = [rows.merge(old.slice(begin, count), begin) for begin, count in ((0, cut), (cut, None)) if begin <= len(stored)]
        results.append(([values_of(one) for one in merged], str(rows.inserts().to_pylist()), rows.late_dropped))
    assert results[0] == results[1]


def position_of(key: str, keys: list[str], what: str) -> int | None:
    """Return what an index may say of a key in a file that holds these keys."""
    if keys.count(key) > 1 or (key in keys and what == "several"):
        return -1
    return keys.index(key) if key in keys and what == "known" else None


def values_of(merged: MergedBatch) -> tuple[str, str, int, list[int]]:
    return str(merged.retained.to_pylist()), str(merged.replacements.to_pylist()), merged.deleted, merged.order.tolist()


@pytest.mark.parametrize("position", [1, 7], ids=["another row", "no row"])
def test_position_of_another_record_is_an_error(position: int) -> None:
    context = RecordContext("t", SCHEMA, arrow_to_avro(SCHEMA, "t"), (), MergeMode.COMMIT_TIME_ORDERING)
    entry = {"ts": 1.0, "tie": "a", "_hoodie_is_deleted": False, "_pyhudi_delete": False}
    old = table_of([{**entry, "_hoodie_record_key": key} for key in ("k1", "k2")]).drop_columns("_pyhudi_delete")
    new = table_of([{**entry, "_hoodie_record_key": "k1"}])
    rows = IncomingRows(new.append_column("_pyhudi_position", pa.array([position])), context)
    with pytest.raises(CorruptTableError, match="run the write again"):
        _merge_all(rows, old)


def _merge_all(rows: IncomingRows, old: pa.Table) -> None:
    rows.merge(old)
    rows.inserts()
