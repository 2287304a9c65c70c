"""Splitting and merging buckets of consistent hashing. Pure.

Rules: `ConsistentBucketIdentifier` (`splitBucket`, `mergeBucket`), `ConsistentHashingNode`. What a resizing changes is stated by
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
from pyhudi.index.consistent_hashing import GREATEST, HashingMetadata, file_id_of
from pyhudi.javacompat.jackson import render_json


class Tag(enum.StrEnum):
    """What a node does to the bucket that ends where it does."""

    REPLACE = "REPLACE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class Node:
    """A change of the buckets: a bucket that ends at `value` has the file id `prefix` from now on, or is no more (None)."""

    value: int
    prefix: str | None
    tag: Tag

    @property
    def file_id(self) -> str | None:
        """The file id of the new bucket."""
        return None if self.prefix is None else file_id_of(self.prefix)


def split(hashing: HashingMetadata, index: int, prefixes: tuple[str, str]) -> tuple[Node, Node] | None:
    """Return the nodes that split the bucket at an index in halves; None when its range is a single hash.

    Example:
        >>> [node.value for node in split(HashingMetadata((1000, 3000), ("a", "b")), 1, ("c", "d")) or ()]
        [2000, 3000]
    """
    start, end = hashing.values[index - 1], hashing.values[index]
    # The first bucket's range begins behind the last one's, and wraps around.
    middle = ((start + end + (0 if start < end else GREATEST + 1)) >> 1) & GREATEST
    if middle in (start, end):
        return None
    return Node(middle, prefixes[0], Tag.REPLACE), Node(end, prefixes[1], Tag.REPLACE)


def merge(hashing: HashingMetadata, indices: Sequence[int], prefix: str) -> tuple[Node, ...]:
    """Return the nodes that make one bucket of some with adjacent hash ranges, in this order.

    Raises:
        ValueError: they do not.

    Example:
        >>> [(node.value, node.tag.value) for node in merge(HashingMetadata((10, 20), ("a", "b")), [1, 0], "c")]
        [(20, 'DELETE'), (10, 'REPLACE')]
    """
    count = len(hashing.values)
    if len(indices) < 2 or any((index + 1) % count != after for index, after in pairwise(indices)):
        raise ValueError(f"buckets {list(indices)} of {count} do not follow each other")
    removed = (Node(hashing.values[index], None, Tag.DELETE) for index in indices[:-1])
    return (*removed, Node(hashing.values[indices[-1]], prefix, Tag.REPLACE))


def resize_buckets(hashing: HashingMetadata, nodes: Sequence[Node], instant: str) -> HashingMetadata:
    """Return the hashing metadata after a resizing.

    Raises:
        ValueError: a node takes away a bucket that is not there, or none is left.
    """
    buckets = dict(zip(hashing.values, hashing.prefixes, strict=True))
    for node in nodes:
        if node.prefix is not None:
            buckets[node.value] = node.prefix
        elif buckets.pop(node.value, None) is None:
            raise ValueError(f"no bucket ends at {node.value}")
    if not buckets:
        raise ValueError("no bucket is left")
    values = tuple(sorted(buckets))
    return HashingMetadata(values, tuple(buckets[value] for value in values), instant, hashing.number + 1, hashing.first_count)


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
        raise CorruptTableError(f"the plan's nodes of consistent hashing are damaged ({type(error).__name__}: {error})") from None
    return nodes


def _node(value: object, prefix: object, tag: Tag) -> Node:
    if not isinstance(value, int) or not 0 <= value <= GREATEST:
        raise ValueError(f"a bucket ends at {value}")
    return Node(value, str(uuid.UUID(str(prefix))) if tag is Tag.REPLACE else None, tag)
