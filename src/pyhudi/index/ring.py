"""Consistent hashing: the buckets of a partition own stretches of a ring of hashes, so that one can be split and two merged.

Rules: `HoodieConsistentHashingMetadata`, `ConsistentBucketIndexUtils`, `ConsistentBucketIdentifier`; format notes 6.2. The ring of a
partition is a file, a new one for each resizing. The first follows from the number of buckets alone.
"""

from __future__ import annotations

import hashlib
import struct
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pyhudi.codec.jackson import parse_json, render_json
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.view import FileSystemView
from pyhudi.index.bucket import Buckets
from pyhudi.kernels.bucket_hash import ring_hashes
from pyhudi.spec.file_group import FileGroupId

FOLDER = ".hoodie/.bucket_index/consistent_hashing_metadata"
_META, _DONE = ".hashing_meta", ".commit"
_FIRST = "00000000000000"
_GREATEST = (1 << 31) - 1
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Ring:
    """The ring of a partition: `values` are where the stretches of its buckets end, ascending, `prefixes` their file ids without number."""

    values: tuple[int, ...]
    prefixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsistentBuckets:
    """The engine CONSISTENT_HASHING; `count` is how many buckets a new partition begins with."""

    fields: tuple[str, ...]
    count: int

    def buckets(self, view: FileSystemView, path: str) -> Buckets:
        """Return the buckets of a partition.

        Raises:
            CorruptTableError: its ring is damaged.
            UnsupportedError: a bucket's file group was replaced.
        """
        stored = load_ring(view, path)
        ring = stored or first_ring(path, self.count)
        _check_not_replaced(ring, view, path)
        first = {} if stored else {f"{_folder(path)}/{_FIRST}{_META}": render_ring(ring, path)}
        ends = np.array(ring.values)
        # A key belongs to the first stretch that ends at its hash or behind it.
        return Buckets(
            [f"{prefix}-0" for prefix in ring.prefixes],
            lambda keys: np.searchsorted(ends, ring_hashes(keys, self.fields)) % len(ends),
            first,
        )


def _check_not_replaced(ring: Ring, view: FileSystemView, path: str) -> None:
    """Refuse a ring that names a file group which readers leave out: what is written to it would never be seen."""
    gone = [prefix for prefix in ring.prefixes if FileGroupId(path, f"{prefix}-0") in view.replaced]
    if gone:
        raise UnsupportedError(
            f"file group {gone[0]}-0 in partition '{path}' of table {view.storage.uri} was replaced, and consistent hashing would write to"
            " it again, where no reader looks. Write the rows into another partition, or into a new table."
        )


def _folder(path: str) -> str:
    return f"{FOLDER}/{path}" if path else FOLDER


def first_ring(path: str, count: int) -> Ring:
    """Return the ring that a partition begins with: stretches of equal length, file ids made of them and the partition.

    Example:
        >>> first_ring("region=us", 4).values[0], first_ring("region=us", 4).prefixes[0]
        (536870912, '7592fe24-ff3e-364f-8d49-124e22c1c45b')
    """
    step = -(-_GREATEST // count)
    ends = [min(step * number, _GREATEST) for number in range(1, count + 1)]
    starts = [0, *ends[:-1]]
    return Ring(tuple(ends), tuple(_prefix(start, end, path) for start, end in zip(starts, ends, strict=True)))


def _prefix(start: int, end: int, path: str) -> str:
    digest = hashlib.md5(struct.pack(">qq", start, end) + path.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


def has_rings(view: FileSystemView) -> bool:
    """Tell whether a table is laid out by consistent hashing."""
    return view.config.is_merge_on_read and bool(view.storage.list(FOLDER))


def load_ring(view: FileSystemView, path: str) -> Ring | None:
    """Return the ring that holds for a partition as the table's timeline shows it; None when it has none.

    A ring counts when its resizing is known to be done: it is marked so, its instant is completed, or a file group of it is there.

    Raises:
        CorruptTableError: the file is damaged.
    """
    folder = _folder(path)
    names = [status.name for status in view.storage.list(folder) if not status.is_dir]
    marked = {name.removesuffix(_DONE) for name in names if name.endswith(_DONE)}
    pending = {instant.requested for instant in view.timeline.pending()}
    for instant in sorted((name.removesuffix(_META) for name in names if name.endswith(_META)), reverse=True):
        if instant in marked or instant == _FIRST or view.timeline.completion_time(instant) is not None:
            return _parse(view, f"{folder}/{instant}{_META}")
        if instant not in pending:
            ring = _parse(view, f"{folder}/{instant}{_META}")
            if _is_used(ring, (piece.group.file_id for piece in view.latest_slices(path))):
                return ring
    return None


def _is_used(ring: Ring, file_ids: Iterable[str]) -> bool:
    known = {f"{prefix}-0" for prefix in ring.prefixes}
    return any(file_id in known for file_id in file_ids)


def _parse(view: FileSystemView, path: str) -> Ring:
    try:
        nodes = parse_json(view.storage.read(path, max_bytes=_MAX_BYTES))["nodes"]
        kept = sorted((int(node["value"]), str(uuid.UUID(node["fileIdPrefix"]))) for node in nodes if node.get("tag") != "DELETE")
    except (ValueError, KeyError, TypeError, AttributeError, CorruptTableError) as error:
        raise CorruptTableError(f"file {path} of table {view.storage.uri} is damaged: {error}") from None
    if not kept or any(not 0 <= value <= _GREATEST for value, _ in kept):
        raise CorruptTableError(f"file {path} of table {view.storage.uri} is damaged: its nodes are no ring")
    return Ring(tuple(value for value, _ in kept), tuple(prefix for _, prefix in kept))


def render_ring(ring: Ring, path: str) -> bytes:
    """Return the content of the file of a first ring."""
    content = {
        "version": 0,
        "partitionPath": path,
        "instant": _FIRST,
        "numBuckets": len(ring.values),
        "seqNo": 0,
        "nodes": [
            {"value": value, "fileIdPrefix": prefix, "tag": "NORMAL"} for value, prefix in zip(ring.values, ring.prefixes, strict=True)
        ],
    }
    return render_json(content)
