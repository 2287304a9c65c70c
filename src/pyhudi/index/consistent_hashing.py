"""Consistent hashing: the buckets of a partition own ranges of hashes, so that one can be split and two merged.

Rules: `HoodieConsistentHashingMetadata`, `ConsistentBucketIndexUtils`, `ConsistentBucketIdentifier`;
docs/format/keys.md#consistent-hashing. The hashing metadata of a partition is a file, a new one for each resizing. The first follows from
the number of buckets alone.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_index import Buckets
from pyhudi.javacompat.jackson import parse_json, render_json
from pyhudi.kernels.arrays.bucket_hash import bucket_indices, consistent_hashes
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage

FOLDER = ".hoodie/.bucket_index/consistent_hashing_metadata"
_META, _DONE = ".hashing_meta", ".commit"
_FIRST = "00000000000000"
#: Hashes are of 31 bits.
GREATEST = (1 << 31) - 1
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class HashingMetadata:
    """The buckets of a partition: `values` are the ends of their hash ranges, ascending, `prefixes` their file ids without number.

    `instant` made it, `number` counts the resizings before, `first_count` is how many buckets the partition began with.
    """

    values: tuple[int, ...]
    prefixes: tuple[str, ...]
    instant: str = _FIRST
    number: int = 0
    first_count: int = 0

    @property
    def file_ids(self) -> tuple[str, ...]:
        """The file ids of the buckets: each is one file group."""
        return tuple(file_id_of(prefix) for prefix in self.prefixes)


@dataclass(frozen=True, slots=True)
class ConsistentBuckets:
    """The engine CONSISTENT_HASHING; `count` is how many buckets a new partition begins with."""

    fields: tuple[str, ...]
    count: int

    def buckets(self, view: FileSystemView, path: str) -> Buckets:
        """Return the buckets of a partition.

        Raises:
            CorruptTableError: its hashing metadata is damaged.
            UnsupportedError: a bucket's file group was replaced.
        """
        stored = load_hashing_metadata(view, path)
        hashing = stored or first_hashing_metadata(path, self.count)
        _check_not_replaced(hashing, view, path)
        first = {} if stored else {hashing_metadata_file(path, hashing.instant): render_hashing_metadata(hashing, path)}
        return Buckets(hashing.file_ids, lambda keys: bucket_indices(hashing.values, consistent_hashes(keys, self.fields)), first)


def _check_not_replaced(hashing: HashingMetadata, view: FileSystemView, path: str) -> None:
    """Refuse metadata that names a file group which readers leave out: what is written to it would never be read."""
    removed = [file_id for file_id in hashing.file_ids if FileGroupId(path, file_id) in view.replaced]
    if removed:
        raise UnsupportedError(
            f"file group {removed[0]} in partition '{path}' of table {view.storage.uri} was replaced, and consistent hashing would write to"
            " it again, where no reader looks. Write the rows into another partition, or into a new table."
        )


def _folder(path: str) -> str:
    return f"{FOLDER}/{path}" if path else FOLDER


def file_id_of(prefix: str) -> str:
    """Return the file id of the one file group that a bucket has."""
    return f"{prefix}-0"


def hashing_metadata_file(path: str, instant: str) -> str:
    """Return the path of the hashing metadata that an instant wrote for a partition."""
    return f"{_folder(path)}/{instant}{_META}"


def mark_file(path: str, instant: str) -> str:
    """Return the path of the empty file that marks the resizing of that metadata as done."""
    return f"{_folder(path)}/{instant}{_DONE}"


def first_hashing_metadata(path: str, count: int) -> HashingMetadata:
    """Return the hashing metadata that a partition begins with: ranges of equal length, file ids made of them and the partition.

    Example:
        >>> first_hashing_metadata("region=us", 4).values[0], first_hashing_metadata("region=us", 4).prefixes[0]
        (536870912, '7592fe24-ff3e-364f-8d49-124e22c1c45b')
    """
    step = -(-GREATEST // count)
    ends = [min(step * number, GREATEST) for number in range(1, count + 1)]
    starts = [0, *ends[:-1]]
    return HashingMetadata(
        tuple(ends), tuple(_prefix(start, end, path) for start, end in zip(starts, ends, strict=True)), first_count=count
    )


def _prefix(start: int, end: int, path: str) -> str:
    digest = hashlib.md5(struct.pack(">qq", start, end) + path.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


def uses_consistent_hashing(view: FileSystemView) -> bool:
    """Tell whether a table is laid out by consistent hashing."""
    return is_consistently_hashed(view.storage, view.config)


def is_consistently_hashed(storage: Storage, config: TableConfig) -> bool:
    """Tell the same without a view of the table's files."""
    return config.is_merge_on_read and bool(storage.list(FOLDER))


def load_hashing_metadata(view: FileSystemView, path: str) -> HashingMetadata | None:
    """Return the valid hashing metadata of a partition according to the table's timeline; None when it has none.

    Metadata is valid when its resizing is known to be done: it is marked so, its instant is completed, or file groups exist that it
    names and its predecessor does not. Metadata that a rolled-back resizing left shares its file groups with valid metadata.

    Raises:
        CorruptTableError: the file is damaged.
    """
    names = view.storage.file_names(_folder(path))
    marked = {name.removesuffix(_DONE) for name in names if name.endswith(_DONE)}
    pending = {instant.requested for instant in view.timeline.pending()}
    stored = sorted((name.removesuffix(_META) for name in names if name.endswith(_META)), reverse=True)
    for instant, before in itertools.zip_longest(stored, stored[1:]):
        if instant in marked or instant == _FIRST or view.timeline.completion_time(instant) is not None:
            return _parse(view, path, instant)
        if instant not in pending:
            hashing = _parse(view, path, instant)
            known = () if before is None else _parse(view, path, before).file_ids
            if _is_used(set(hashing.file_ids).difference(known), (file_slice.group.file_id for file_slice in view.latest_slices(path))):
                return hashing
    return None


def _is_used(new: Collection[str], file_ids: Iterable[str]) -> bool:
    return any(file_id in new for file_id in file_ids)


def _parse(view: FileSystemView, path: str, instant: str) -> HashingMetadata:
    name = hashing_metadata_file(path, instant)
    try:
        content = parse_json(view.storage.read(name, max_bytes=_MAX_BYTES))
        retained = sorted(
            (int(node["value"]), str(uuid.UUID(node["fileIdPrefix"]))) for node in content["nodes"] if node.get("tag") != "DELETE"
        )
        number, count = int(content.get("seqNo", 0)), int(content.get("numBuckets", 0))
    except (ValueError, KeyError, TypeError, AttributeError, CorruptTableError) as error:
        raise CorruptTableError(f"file {name} of table {view.storage.uri} is damaged: {error}") from None
    values = tuple(value for value, _ in retained)
    if not retained or len(set(values)) < len(values) or any(not 0 <= value <= GREATEST for value in values):
        raise CorruptTableError(f"file {name} of table {view.storage.uri} is damaged: its nodes are no hash ranges")
    return HashingMetadata(values, tuple(prefix for _, prefix in retained), instant, number, count or len(retained))


def render_hashing_metadata(hashing: HashingMetadata, path: str) -> bytes:
    """Return the content of a metadata file; as in Hudi, it keeps the number of buckets that the partition began with."""
    content = {
        "version": 0,
        "partitionPath": path,
        "instant": hashing.instant,
        "numBuckets": hashing.first_count,
        "seqNo": hashing.number,
        "nodes": [
            {"value": value, "fileIdPrefix": prefix, "tag": "NORMAL"}
            for value, prefix in zip(hashing.values, hashing.prefixes, strict=True)
        ],
    }
    return render_json(content)
