"""Tables by buckets: a filter on the key reads its buckets only, whatever options the table was written with, and never misses a row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.kernels.arrays.bucket_hash import list_hashes
from pyhudi.read.skipping.bucket_pruning import possible_counts
from tests.unit.table.tables import make_table, ride

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "8", "hoodie.metadata.enable": "false"}


def plan_of(table, text: str) -> tuple[int, int, set[str]]:
    """How many buckets are read, of how many, and what rules out the others."""
    plan = [row for row in table.inspect.plan(text).to_pylist() if row["kind"] == "base"]
    return sum(row["read"] for row in plan), len(plan), {row["ruled_out_by"] for row in plan if not row["read"]}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_one_key_is_looked_for_in_its_bucket_only(table_type) -> None:
    table = make_table(partition_by=["city"], table_type=table_type)
    table.upsert([ride(number, city) for number in range(200) for city in ("oslo", "lima")], BUCKET)
    table.upsert([ride(number, "oslo", 9) for number in range(0, 200, 3)], BUCKET)
    assert plan_of(table, "id = 7") == (2, 16, {"bucket index"})
    assert plan_of(table, "id = 7 AND city = 'lima'")[0] == 1
    assert plan_of(table, "id IN (3, 7) AND value = 0")[0] <= 4
    assert plan_of(table, "id > 7") == (16, 16, set())
    for number in range(40):
        assert table.to_arrow(filter=f"id = {number}").num_rows == 2


@pytest.mark.parametrize("hashed", ["id", "city", "id,city"])
def test_a_key_of_two_fields_is_found_whichever_of_them_is_hashed(hashed) -> None:
    table = make_table(keys=["id", "city"])
    rows = [ride(number, f"c{number % 7}") for number in range(300)]
    table.upsert(rows, BUCKET | {"hoodie.bucket.index.hash.field": hashed})
    count = table.inspect.slices().num_rows
    read, _, reasons = plan_of(table, "id = 7 AND city = 'c0'")
    assert (read, reasons) == (1, {"bucket index"})
    assert plan_of(table, "id = 7")[0] == (1 if hashed == "id" else count)
    assert plan_of(table, "city = 'c3'")[0] == (1 if hashed == "city" else count)
    for text, result in {"id = 7": 1, "city = 'c3'": 43, "id = 8 AND city = 'c1'": 1}.items():
        assert table.to_arrow(filter=text).num_rows == result


def test_file_groups_that_are_no_buckets_are_all_read() -> None:
    table = make_table()
    table.insert([ride(number) for number in range(5)], {"hoodie.metadata.enable": "false"})
    table.insert([ride(7)], {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"})
    assert plan_of(table, "id = 7") == (2, 2, set())


KEYS = st.lists(st.integers(0, 10_000).map(str), min_size=1, max_size=12, unique=True)


@settings(max_examples=200)
@given(keys=KEYS, count=st.integers(1, 40), sample=st.integers(1, 3))
def test_the_true_number_of_buckets_is_always_possible(keys, count, sample) -> None:
    by_bucket: dict[int, list[str]] = {}
    for key, number in zip(keys, (list_hashes(pa.array(keys), ("id",)) % count).tolist(), strict=True):
        by_bucket.setdefault(number, []).append(key)
    some = {bucket: result[:sample] for bucket, result in by_bucket.items()}
    possible = possible_counts(some, ("id",), max(by_bucket))  # type: ignore[arg-type]
    assert possible is None or count in possible


def test_keys_that_are_in_no_bucket_of_theirs_leave_no_number_possible() -> None:
    assert possible_counts({3: ["a", "b", "c"], 1: ["d", "e"]}, ("id",), 3) == []
