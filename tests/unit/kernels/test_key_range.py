"""The key range of a footer, in Java's order."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.kernels.base_file.key_range import KeyRange

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def range_of(*batches: Sequence[str | None]) -> tuple[str | None, str | None]:
    keys = KeyRange()
    for batch in batches:
        keys.extend(pa.chunked_array([pa.array(batch, pa.string())]))
    return keys.least, keys.greatest


def test_no_keys_have_no_range() -> None:
    assert range_of([], [None]) == (None, None)


def test_a_character_beyond_the_first_plane_is_less_than_the_end_of_that_plane() -> None:
    # By bytes of UTF-8 it is the other way round.
    assert range_of(["\uffee", "a"], ["𝄞"]) == ("a", "\uffee")


def test_the_rest_of_a_sliced_batch_does_not_count() -> None:
    keys = KeyRange()
    keys.extend(pa.chunked_array([pa.array(["𝄞", "b", "c", "z"]).slice(1, 2)]))
    assert (keys.least, keys.greatest) == ("b", "c")


@given(st.lists(TEXT, min_size=1))
def test_the_range_of_sorted_keys(batch: list[str]) -> None:
    ordered = sorted(batch, key=lambda key: key.encode("utf-16-be"))
    assert range_of(sorted(batch)) == (ordered[0], ordered[-1])


def test_keys_whose_first_ones_alone_are_sorted() -> None:
    keys = [f"k{number:05}" for number in range(5000)]
    assert range_of([*keys[1:], keys[0]]) == (keys[0], keys[-1])
    assert range_of([*keys, None]) == (keys[0], keys[-1])


@given(st.lists(st.lists(TEXT), min_size=1))
def test_the_range_is_that_of_java_strings(batches: list[list[str]]) -> None:
    ordered = sorted((key for batch in batches for key in batch), key=lambda key: key.encode("utf-16-be"))
    assert range_of(*batches) == ((ordered[0], ordered[-1]) if ordered else (None, None))
