"""Splitting and merging buckets of a ring. Pure.

Rules: `ConsistentBucketIdentifier` (`splitBucket`, `mergeBucket`), `ConsistentHashingNode`. What a resizing changes of a ring is stated by
nodes, by which the plan on the timeline names the new buckets before they are filled.
"""

from __future__ import annotations

import enum
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyhudi.errors import CorruptTableError
from pyhudi.index.consistent_hashing import GREATEST, Ring, file_id_of
from pyhudi.javacompat.jackson import render_json


class Tag(enum.StrEnum):
    """What a node does to the bucket that ends where it does."""

    REPLACE = "REPLACE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class Node:
    """A change of a ring: a bucket that ends at `value` has the file id `prefix` from now on, or is no more (None)."""

    value: int
    prefix: str | None
    tag: Tag

    @property
    def file_id(self) -> str | None:
        """The file id of the new bucket."""
        return None if self.prefix is None else file_id_of(self.prefix)


def split(ring: Ring, index: int, prefixes: tuple[str, str]) -> tuple[Node, Node] | None:
    """Return the nodes that cut the bucket at a place of the ring in halves; None when its stretch is a single hash.

    Example:
        >>> [node.value for node in split(Ring((1000, 3000), ("a", "b")), 1, ("c", "d")) or ()]
        [2000, 3000]
    """
    start, end = ring.values[index - 1], ring.values[index]
    # The first bucket's stretch begins behind the last one's, and goes over the ring's seam.
    middle = ((start + end + (0 if start < end else GREATEST + 1)) >> 1) & GREATEST
    if middle in (start, end):
        return None
    return Node(middle, prefixes[0], Tag.REPLACE), Node(end, prefixes[1], Tag.REPLACE)


def merge(ring: Ring, indices: Sequence[int], prefix: str) -> tuple[Node, ...]:
    """Return the nodes that make one bucket of some that follow each other, in this order, on the ring.

    Raises:
        ValueError: they do not.

    Example:
        >>> [(node.value, node.tag.value) for node in merge(Ring((10, 20), ("a", "b")), [1, 0], "c")]
        [(20, 'DELETE'), (10, 'REPLACE')]
    """
    count = len(ring.values)
    if len(indices) < 2 or any((index + 1) % count != after for index, after in pairwise(indices)):
        raise ValueError(f"buckets {list(indices)} of {count} do not follow each other")
    removed = (Node(ring.values[index], None, Tag.DELETE) for index in indices[:-1])
    return (*removed, Node(ring.values[indices[-1]], prefix, Tag.REPLACE))


def resize_ring(ring: Ring, nodes: Sequence[Node], instant: str) -> Ring:
    """Return the ring that a resizing makes of another.

    Raises:
        ValueError: a node takes away a bucket that is not there, or none is left.
    """
    buckets = dict(zip(ring.values, ring.prefixes, strict=True))
    for node in nodes:
        if node.prefix is not None:
            buckets[node.value] = node.prefix
        elif buckets.pop(node.value, None) is None:
            raise ValueError(f"no bucket ends at {node.value}")
    if not buckets:
        raise ValueError("no bucket is left")
    values = tuple(sorted(buckets))
    return Ring(values, tuple(buckets[value] for value in values), instant, ring.number + 1, ring.first_count)


def render_nodes(nodes: Sequence[Node]) -> str:
    """Return nodes as a clustering plan holds them."""
    return render_json([{"value": node.value, "fileIdPrefix": node.prefix, "tag": node.tag.value} for node in nodes]).decode()


def parse_nodes(text: str) -> tuple[Node, ...]:
    """Return the nodes of a clustering plan.

    Raises:
        CorruptTableError: the text holds none.
    """
    try:
        nodes = tuple(_node(item["value"], item["fileIdPrefix"], Tag(item["tag"])) for item in json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptTableError(f"the plan's nodes of a hash ring are damaged ({type(error).__name__}: {error})") from None
    return nodes


def _node(value: object, prefix: object, tag: Tag) -> Node:
    if not isinstance(value, int) or not 0 <= value <= GREATEST:
        raise ValueError(f"a bucket ends at {value}")
    return Node(value, str(uuid.UUID(str(prefix))) if tag is Tag.REPLACE else None, tag)
