"""Upserts and deletes by every index leave the table that a dictionary of the same rows is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from tests.unit.table.tables import make_table, ride

LISTED = {"hoodie.metadata.enable": "false"}
RECORDS = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
PARTITIONED = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
BUCKET = {**LISTED, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"}
INDEXES: dict[str, dict[str, str]] = {
    **{name: {**LISTED, "hoodie.index.type": name} for name in ("SIMPLE", "BLOOM", "INMEMORY", "GLOBAL_SIMPLE", "GLOBAL_BLOOM")},
    "BUCKET": BUCKET,
    "CONSISTENT_HASHING": {**BUCKET, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"},
    "GLOBAL_RECORD_LEVEL_INDEX": {**RECORDS, "hoodie.index.type": "RECORD_INDEX"},
    "RECORD_LEVEL_INDEX": {**PARTITIONED, "hoodie.index.type": "RECORD_LEVEL_INDEX"},
    "chosen by the table": LISTED,
}
GLOBAL = ("GLOBAL_SIMPLE", "GLOBAL_BLOOM", "GLOBAL_RECORD_LEVEL_INDEX")
CASES = [
    (name, kind)
    for name in INDEXES
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    if (name, kind) != ("CONSISTENT_HASHING", "COPY_ON_WRITE")
]

keys = st.tuples(st.integers(0, 9), st.sampled_from(["oslo", "rome"]))
steps = st.lists(st.tuples(st.booleans(), st.lists(keys, min_size=1, max_size=8, unique_by=lambda key: key[0])), min_size=2, max_size=5)
#: Insert, delete, insert again, move, update.
THERE_AND_BACK = [
    (False, [(1, "oslo"), (2, "oslo"), (3, "rome")]),
    (True, [(1, "oslo"), (3, "rome")]),
    (False, [(1, "oslo"), (2, "rome")]),
    (False, [(1, "rome"), (2, "oslo"), (3, "rome")]),
]


@pytest.mark.parametrize(("index", "table_type"), CASES)
@example(steps=THERE_AND_BACK)
@settings(max_examples=2, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(steps=steps)
def test_table_equals_a_dictionary(index: str, table_type: str, steps: list[tuple[bool, list[tuple[int, str]]]]) -> None:
    table = make_table(partition_by=["city"], table_type=table_type)
    options = {**INDEXES[index], "hoodie.compact.inline": "false"}
    model: dict[Any, int] = {}
    for number, (deletes, batch) in enumerate(steps):
        rows = [ride(key, city, number) for key, city in batch]
        named = {row["id"] if index in GLOBAL else (row["id"], row["city"]): number for row in rows}
        if deletes:
            table.delete(rows, options=options)
            model = {key: value for key, value in model.items() if key not in named}
        else:
            table.upsert(rows, options=options)
            model |= named
        result = table.to_arrow().to_pylist()
        stored = {row["id"] if index in GLOBAL else (row["id"], row["city"]): row["value"] for row in result}
        assert stored == model
        assert len(result) == len(model)
