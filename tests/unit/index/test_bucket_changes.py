"""Splitting and merging buckets of consistent hashing: whatever is done to it, a key belongs where Apache Hudi's search finds it."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError
from pyhudi.index.bucket_resizing import Node, Tag, merge, parse_nodes, render_nodes, resize_buckets, split
from pyhudi.index.consistent_hashing import GREATEST, HashingMetadata, first_hashing_metadata
from pyhudi.kernels.arrays.bucket_hash import bucket_indices

HASHES = st.lists(st.integers(0, GREATEST), min_size=1, max_size=20)
#: Splits and merges, by the hash, how many buckets, as shares of what there is.
STEPS = st.lists(st.tuples(st.booleans(), st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True)), max_size=12)


def prefix(number: int) -> str:
    return str(uuid.UUID(int=number))


def walked(hashing: HashingMetadata, hash_: int) -> str:
    """`ConsistentBucketIdentifier.getBucket`: the entry at the hash or behind it, else the first one."""
    return next((one for value, one in zip(hashing.values, hashing.prefixes, strict=True) if value >= hash_), hashing.prefixes[0])


def stretch_holds(start: int, end: int, hash_: int) -> bool:
    """Tell whether a hash lies behind `start` up to `end`, around the end of the hash space when the end comes first."""
    return start < hash_ <= end if start < end else hash_ > start or hash_ <= end


@given(st.integers(1, 9), STEPS, HASHES)
def test_a_key_s_bucket_changes_only_with_those_that_are_resized(
    count: int, steps: list[tuple[bool, float, float]], hashes: list[int]
) -> None:
    hashing = first_hashing_metadata("p", count)
    for number, (is_split, where, share) in enumerate(steps, 1):
        index, size = int(where * len(hashing.values)), 2 + int(share * (len(hashing.values) - 1))
        if is_split or size > len(hashing.values):
            touched, nodes = [index], split(hashing, index, (prefix(2 * number), prefix(2 * number + 1)))
        else:
            touched = [(index + step) % len(hashing.values) for step in range(size)]
            nodes = merge(hashing, touched, prefix(2 * number))  # type: ignore[assignment]
        if nodes is None:
            continue
        after = resize_buckets(hashing, nodes, str(number))
        old, new = {hashing.prefixes[one] for one in touched}, {node.prefix for node in nodes}
        for hash_ in hashes:
            before, now = walked(hashing, hash_), walked(after, hash_)
            assert now in new if before in old else now == before
        hashing = after
    values = np.array(hashes)
    assert [hashing.prefixes[index] for index in bucket_indices(hashing.values, values).tolist()] == [
        walked(hashing, hash_) for hash_ in hashes
    ]


@given(st.integers(1, 6), st.floats(0, 1, exclude_max=True), HASHES)
def test_a_split_cuts_a_stretch_in_halves(count: int, where: float, hashes: list[int]) -> None:
    hashing = first_hashing_metadata("p", count)
    index = int(where * count)
    nodes = split(hashing, index, (prefix(1), prefix(2)))
    assert nodes is not None
    after, start = resize_buckets(hashing, nodes, "1"), hashing.values[index - 1]
    for hash_ in hashes:
        if walked(hashing, hash_) == hashing.prefixes[index]:
            assert walked(after, hash_) == prefix(1 if stretch_holds(start, nodes[0].value, hash_) else 2)
    sizes = [(nodes[0].value - start) % (GREATEST + 1), (nodes[1].value - nodes[0].value) % (GREATEST + 1)]
    assert abs(sizes[0] - sizes[1]) <= 1


def test_a_stretch_of_one_hash_is_not_split() -> None:
    assert split(HashingMetadata((10, 11), ("a", "b")), 1, ("c", "d")) is None
    assert split(HashingMetadata((0, GREATEST), ("a", "b")), 0, ("c", "d")) is None
    assert split(HashingMetadata((10, 12), ("a", "b")), 1, ("c", "d")) == (Node(11, "c", Tag.REPLACE), Node(12, "d", Tag.REPLACE))


def test_hashing_metadata_counts_its_resizings_and_states_its_first_count() -> None:
    nodes = split(first_hashing_metadata("p", 3), 0, (prefix(1), prefix(2)))
    assert nodes is not None
    hashing = resize_buckets(first_hashing_metadata("p", 3), nodes, "20260101000000000")
    assert (hashing.number, hashing.first_count, hashing.instant, len(hashing.values)) == (1, 3, "20260101000000000", 4)


def test_what_does_not_fit_is_refused() -> None:
    hashing = HashingMetadata((10, 20, 30), ("a", "b", "c"))
    for indices in ([0], [0, 2], [1, 0]):
        with pytest.raises(ValueError, match="do not follow each other"):
            merge(hashing, indices, "d")
    with pytest.raises(ValueError, match="no bucket ends at 15"):
        resize_buckets(hashing, [Node(15, None, Tag.DELETE)], "1")
    with pytest.raises(ValueError, match="no bucket is left"):
        resize_buckets(hashing, [Node(value, None, Tag.DELETE) for value in hashing.values], "1")


def test_nodes_are_written_as_apache_hudi_writes_them() -> None:
    nodes = (Node(1610612735, None, Tag.DELETE), Node(2147483647, "640604b7-4d88-4448-988a-d6598ebb9502", Tag.REPLACE))
    text = (
        '[ {\n  "value" : 1610612735,\n  "fileIdPrefix" : null,\n  "tag" : "DELETE"\n}, {\n  "value" : 2147483647,\n'
        '  "fileIdPrefix" : "640604b7-4d88-4448-988a-d6598ebb9502",\n  "tag" : "REPLACE"\n} ]'
    )
    assert render_nodes(nodes) == text
    assert parse_nodes(text) == nodes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}x",
        "[1]",
        '{"value": 1}',
        '[{"value": 1, "fileIdPrefix": null, "tag": "REPLACE"}]',
        '[{"value": -1, "fileIdPrefix": null, "tag": "DELETE"}]',
        '[{"value": 1, "fileIdPrefix": "../x", "tag": "REPLACE"}]',
        '[{"value": 1, "fileIdPrefix": null, "tag": "NORMAL"}]',
    ],
)
def test_damaged_nodes_are_named(text: str) -> None:
    with pytest.raises(CorruptTableError, match="nodes of consistent hashing are damaged"):
        parse_nodes(text)
