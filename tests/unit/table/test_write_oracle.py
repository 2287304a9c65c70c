"""Sequences of writes of every kind, on every kind of table, against a dict."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table

SCHEMA = pa.schema({"a": pa.int64(), "b": pa.string(), "city": pa.string(), "value": pa.int64(), "at": pa.int64()})
KINDS: dict[str, dict[str, Any]] = {
    "one key": {"keys": ["a"]},
    "one key, partitioned": {"keys": ["a"], "partition_by": ["city"]},
    "two keys, partitioned, hive style": {
        "keys": ["a", "b"],
        "partition_by": ["city", "b"],
        "options": {
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.datasource.write.partitionpath.urlencode": "true",
        },
    },
    "ordered": {"keys": ["a"], "partition_by": ["city"], "order_by": ["at"]},
    "ordered, version 8": {"keys": ["a", "b"], "order_by": ["at"], "options": {"hoodie.write.table.version": "8"}},
}
#: Tables of a few rows need no bloom filters of 60,000 keys.
SMALL = {"hoodie.parquet.bloom.filter.enabled": "false"}

ROW = st.fixed_dictionaries(
    {
        "a": st.integers(0, 5),
        "b": st.sampled_from(["x", "y/z"]),
        "city": st.sampled_from(["oslo", "rome", None]),
        "value": st.one_of(st.none(), st.integers(-9, 9)),
        "at": st.one_of(st.none(), st.integers(0, 4)),
    }
)
STEP = st.tuples(st.sampled_from(["upsert", "delete", "overwrite", "dynamic", "where"]), st.lists(ROW, max_size=6))


class Model:
    """What the rows must be: one row for each key of a partition, the rules said slowly."""

    def __init__(self, kind: dict[str, Any]) -> None:
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.place_fields = kind.get("partition_by", [])
        self.key_fields = kind["keys"]
        self.ordered = "order_by" in kind

    def location(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[field] for field in self.place_fields)

    def key(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return (self.location(row), *(row[field] for field in self.key_fields))

    def upsert(self, rows: list[dict[str, Any]]) -> None:
        for row in self.combined(rows):
            stored = self.rows.get(self.key(row))
            if stored is None or not self.late(row, stored):
                self.rows[self.key(row)] = row

    def combined(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        result: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in rows:
            if self.key(row) not in result or not self.late(row, result[self.key(row)]):
                result[self.key(row)] = row
        return list(result.values())

    def late(self, row: dict[str, Any], stored: dict[str, Any]) -> bool:
        if not self.ordered:
            return False
        return (row["at"] is not None, row["at"] or 0) < (stored["at"] is not None, stored["at"] or 0)

    def drop(self, keep) -> None:
        self.rows = {key: row for key, row in self.rows.items() if keep(row)}


def apply(table: HudiTable, model: Model, step: str, rows: list[dict[str, Any]]) -> None:
    data = pa.Table.from_pylist(rows, schema=SCHEMA)
    unique = pa.Table.from_pylist(model.combined(rows), schema=SCHEMA)
    if step == "upsert":
        table.upsert(data, options=SMALL)
        model.upsert(rows)
    elif step == "delete":
        table.delete(data, options=SMALL)
        removed = {model.key(row) for row in rows}
        model.drop(lambda row: model.key(row) not in removed)
    elif step == "where":
        limit = len(rows)
        table.delete(where=f"a < {limit}", options=SMALL)
        model.drop(lambda row: row["a"] >= limit)
    else:
        table.overwrite(unique, dynamic=step == "dynamic", options=SMALL)
        indices = {model.location(row) for row in rows}
        model.drop(lambda row: step == "dynamic" and model.location(row) not in indices)
        model.upsert(rows)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=1, max_size=5))
def test_any_sequence_of_writes_gives_the_rows_of_the_model(kind, steps) -> None:
    table, model = make_table(schema=SCHEMA, **KINDS[kind]), Model(KINDS[kind])
    for step, rows in steps:
        apply(table, model, step, rows)
        assert in_order(table.to_arrow().to_pylist()) == in_order(model.rows.values())
    keys = table.to_arrow(meta_columns=True)
    named = list(zip(keys["_hoodie_partition_path"].to_pylist(), keys["_hoodie_record_key"].to_pylist(), strict=True))
    assert len(set(named)) == len(named)


def in_order(rows) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: [str(row[name]) for name in SCHEMA.names])
