"""Merging on columns gives what the rules give row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.dedupe import precombine
from pyhudi.kernels.merge.merge_join import IncomingRows
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
    retained, replaced, deleted, late_dropped = [], [], 0, 0
    for number, entry in enumerate(old):
        index = by_key.pop(entry["_hoodie_record_key"], None)
        if index is None:
            retained.append(number)
        elif not incoming_wins(version(entry), version(incoming[index]), mode):
            retained.append(number)
            late_dropped += 1
        elif version(incoming[index]).deletes:
            deleted += 1
        else:
            replaced.append(index)
    inserted = sorted(index for index in by_key.values() if not version(incoming[index]).deletes)

    rows = IncomingRows(table_of(incoming), context)
    batch = rows.merge(table_of(old).drop_columns("_pyhudi_delete"))
    assert batch.retained.column("n").to_pylist() == retained
    assert batch.replacements.column("n").to_pylist() == replaced
    assert (batch.deleted, rows.late_dropped) == (deleted, late_dropped)
    assert rows.inserts().column("n").to_pylist() == inserted
