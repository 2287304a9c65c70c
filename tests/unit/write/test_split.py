"""Rows by label."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.write.input.split_by_partition import split_by_partition, split_rows


@given(st.lists(st.sampled_from(["", "a", "b/c", "é", "a=1"])))
def test_every_row_comes_once_under_its_label_in_the_order_it_had(labels) -> None:
    rows = pa.table({"n": pa.array(range(len(labels)), pa.int64())})
    parts = split_rows(rows, pa.chunked_array([pa.array(labels, pa.string())]))
    assert [label for label, _ in parts] == sorted(set(labels))
    for label, part in parts:
        assert part["n"].to_pylist() == [n for n, result in enumerate(labels) if result == label]


def test_rows_that_lie_together_are_not_copied() -> None:
    rows = pa.table({"n": [1, 2, 3]})
    parts = dict(split_rows(rows, pa.chunked_array([["a", "a", "b"]])))
    assert parts["a"]["n"].chunk(0).buffers()[1].address == rows["n"].chunk(0).buffers()[1].address


def test_dictionaries_with_repeated_and_unused_strings_are_understood() -> None:
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int32()), ["a", "b", "a", "never"])
    keyed = pa.table({"n": [1, 2, 3], "_hoodie_partition_path": labels})
    parts = [(part.partition_path, part.rows.to_pydict()) for part in split_by_partition(keyed)]
    assert parts == [("a", {"n": [1, 2]}), ("b", {"n": [3]})]
