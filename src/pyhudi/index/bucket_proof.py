"""How many buckets a table was written with: what the keys in its buckets prove.

A key in bucket b has a hash that leaves b when it is divided by the number of buckets. That number therefore divides hash minus b of every
key, and is greater than every b. Writing with another number would double records, so what the options say is held against this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.fsview.view import FileSystemView
from pyhudi.index.bucket import Buckets
from pyhudi.index.bucket_numbers import CountRules, NumberedBuckets, bucket_of
from pyhudi.index.log_born import keys_in_logs, logs_of
from pyhudi.index.options import BUCKET_COUNT
from pyhudi.index.protocol import Lookup
from pyhudi.kernels.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.bucket_hash import list_hashes
from pyhudi.kernels.parquet_input import footer_entries, open_parquet
from pyhudi.kernels.read_base import iter_base_file
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.file_group import FileGroupId, FileSlice

_CHECKED_SLICES = 8
_MOST_SLICES = 64


def check_count(lookup: Lookup, fields: Sequence[str], recent: Sequence[FileGroupId], count: int) -> None:
    """Refuse a number of buckets that keys of the table contradict; the greatest and least keys of some buckets are looked at.

    Raises:
        OptionError: names a key and its bucket.
    """
    for piece in _slices(lookup, recent)[:_CHECKED_SLICES]:
        bucket = bucket_of(piece.group.file_id)
        keys = _bounds(lookup, piece)
        for key, number in zip(keys, (list_hashes(pa.array(keys, pa.string()), fields) % count).tolist(), strict=True):
            if number != bucket:
                raise OptionError(
                    f"{BUCKET_COUNT}={count} contradicts table {lookup.view.config.name}: of so many buckets the record key '{key}' belongs"
                    f" to number {number}, and it is in number {bucket} (file group {piece.group.file_id}). Give the number that the table"
                    " was written with, or leave the option out."
                )


def derived_count(lookup: Lookup, fields: Sequence[str], recent: Sequence[FileGroupId]) -> int:
    """Return the number of buckets that the keys in a table's buckets leave possible.

    Raises:
        OptionError: they leave several possible.
    """
    slices = _slices(lookup, recent)[:_MOST_SLICES]
    divisor, greatest = 0, -1
    for read in (_bounds, _all_keys):
        for piece in slices:
            bucket = bucket_of(piece.group.file_id) or 0
            greatest = max(greatest, bucket)
            hashes = list_hashes(pa.array(read(lookup, piece), pa.string()), fields)
            divisor = math.gcd(divisor, *(hashes - bucket).tolist())
        possible = [number for number in divisors(divisor) if number > greatest]
        if len(possible) == 1:
            return possible[0]
    raise OptionError(
        f"how many buckets the partitions of table {lookup.view.config.name} have cannot be told by its few keys: set {BUCKET_COUNT} to the"
        " number that it was written with"
    )


@dataclass(frozen=True, slots=True)
class ProvenBuckets:
    """The simple engine with the number of buckets that a table's keys prove, which is looked for when a row has to be placed."""

    fields: tuple[str, ...]
    lookup: Lookup
    recent: tuple[FileGroupId, ...]
    _known: list[int] = field(default_factory=list)

    def buckets(self, view: FileSystemView, path: str) -> Buckets:
        """Return the buckets of a partition.

        Raises:
            OptionError: the keys leave several numbers possible.
        """
        if not self._known:
            self._known.append(derived_count(self.lookup, self.fields, self.recent))
        return NumberedBuckets(self.fields, CountRules(self._known[0])).buckets(view, path)


def _slices(lookup: Lookup, recent: Sequence[FileGroupId]) -> list[FileSlice]:
    """Return slices of one partition that was written of late, the greatest buckets first: they tell most."""
    for path in dict.fromkeys(group.partition_path for group in recent):
        found = [piece for piece in lookup.view.latest_slices(path) if bucket_of(piece.group.file_id) is not None]
        if found:
            return sorted(found, key=lambda piece: piece.group.file_id, reverse=True)
    return []


def _bounds(lookup: Lookup, piece: FileSlice) -> list[str]:
    """Return the least and the greatest key of the base file; the keys of the logs where there is none."""
    if piece.base is None:
        return _all_keys(lookup, piece)
    with open_parquet(lookup.storage, piece.base.path) as parquet:
        footer = footer_entries(parquet)
    return [footer[name] for name in (FOOTER_MIN_KEY, FOOTER_MAX_KEY) if name in footer]


def _all_keys(lookup: Lookup, piece: FileSlice) -> list[str]:
    if piece.base is None:
        born: list[str] = keys_in_logs(lookup.storage, lookup.shape, logs_of(piece, lookup.view)).to_pylist()
        return born
    batches: Iterable[pa.RecordBatch] = iter_base_file(lookup.storage, piece.base, lookup.shape.schema, [RECORD_KEY])
    return [key for batch in batches for key in batch.column(0).to_pylist()]


def divisors(number: int) -> Iterator[int]:
    """Yield the numbers that divide a number, in no order."""
    for least in range(1, math.isqrt(number) + 1):
        if number % least == 0:
            yield least
            if least * least != number:
                yield number // least
