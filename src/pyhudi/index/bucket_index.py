"""The index BUCKET: a hash of the key says its bucket, and a bucket is one file group of its partition. No key is looked for.

Rules: `HoodieSimpleBucketIndex`, `HoodieConsistentBucketIndex`, `BucketIdentifier`; docs/format/keys.md#bucket-index. `Hashing` is what the
kinds of it differ in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.rows import PartitionRows, TaggedRows, key_array
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.spec.files.file_group import FileSlice


@dataclass(frozen=True, slots=True)
class Buckets:
    """The buckets of one partition.

    `beginnings` are how the file ids of its buckets begin, by number; `numbers` gives the bucket of each of some keys; `required_files`
    are files of the table, by path, that must be there before rows of the partition, as far as they are missing.
    """

    beginnings: Sequence[str]
    numbers: Callable[[pa.StringArray], Indices]
    required_files: Mapping[str, bytes] = field(default_factory=dict)

    def slices(self, view: FileSystemView, path: str) -> dict[int, FileSlice]:
        """Return the newest slice of each bucket that has one.

        Raises:
            CorruptTableError: a file group belongs to no bucket, or two belong to one.
        """
        numbers = {beginning: number for number, beginning in enumerate(self.beginnings)}
        length = len(self.beginnings[0])
        result: dict[int, FileSlice] = {}
        for file_slice in view.latest_slices(path):
            number = numbers.get(file_slice.group.file_id[:length])
            if number is None:
                raise CorruptTableError(
                    f"file group {file_slice.group.file_id} in partition '{path}' of table {view.storage.uri} is none of its {len(numbers)}"
                    " buckets: the options say another number of buckets than the table was written with, or another index wrote to it"
                )
            if number in result:
                raise CorruptTableError(
                    f"bucket {number} of partition '{path}' of table {view.storage.uri} has two file groups,"
                    f" {result[number].group.file_id} and {file_slice.group.file_id}"
                )
            result[number] = file_slice
        return result


class Hashing(Protocol):
    """Says which buckets partitions have."""

    def buckets(self, view: FileSystemView, path: str) -> Buckets:
        """Return the buckets of a partition."""
        ...


@dataclass(frozen=True, slots=True)
class BucketIndex:
    """Sends each row to the file group of its bucket, which begins with its first row.

    `is_consistent` tells whether buckets are split and merged.
    """

    hashing: Hashing
    is_consistent: bool = False

    @property
    def name(self) -> str:
        """`BUCKET`."""
        return "BUCKET"

    @property
    def is_global(self) -> bool:
        """False: the same key may live in several partitions."""
        return False

    def tag(self, parts: Sequence[PartitionRows], lookup: LookupContext) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol. Known keys are looked for only where they are to be left out."""
        if not lookup.live_only:
            return self.assign_buckets(parts, lookup.view)
        known = PartitionIndex().tag(parts, lookup)
        return self.assign_buckets([PartitionRows(part.partition_path, part.inserts) for part in known], lookup.view)

    def assign_buckets(self, parts: Sequence[PartitionRows], view: FileSystemView, *, new_groups: bool = False) -> list[TaggedRows]:
        """Return the rows by their file groups without looking for keys; `new_groups` where all rows begin new file groups."""
        return [self._tag_part(part, view, new_groups) for part in parts]

    def required_files(self, paths: Sequence[str], view: FileSystemView) -> Mapping[str, bytes]:
        """Return files of the table, by path, that must be there before rows of these partitions, as far as they are missing."""
        return {name: content for path in paths for name, content in self.hashing.buckets(view, path).required_files.items()}

    def _tag_part(self, part: PartitionRows, view: FileSystemView, new_groups: bool) -> TaggedRows:
        path, buckets = part.partition_path, self.hashing.buckets(view, part.partition_path)
        slices = {} if new_groups else buckets.slices(view, path)
        updates, new_buckets = [], []
        for number, rows in _by_number(part.rows, buckets.numbers(key_array(part.rows))):
            if number in slices:
                updates.append((slices[number], rows))
            else:
                new_buckets.append((buckets.beginnings[number], rows))
        return TaggedRows(path, tuple(updates), part.rows.slice(0, 0), new_buckets=tuple(new_buckets))


def _by_number(rows: pa.Table, numbers: Indices) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each number, ascending, in the order in which they came."""
    if not len(numbers):
        return
    order = np.argsort(numbers, kind="stable")
    borders = np.flatnonzero(np.diff(numbers[order])) + 1
    rows = rows.take(pa.array(order))
    for start, end in zip([0, *borders.tolist()], [*borders.tolist(), len(order)], strict=True):
        yield int(numbers[order[start]]), rows.slice(start, end - start)
