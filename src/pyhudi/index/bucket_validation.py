"""How many buckets a table was written with: what the keys in its buckets prove.

A key in bucket b has a hash that leaves b when it is divided by the number of buckets. That number therefore divides hash minus b of every
key, and is greater than every b. Writing with another number would double records, so what the options say is compared with this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_index import BucketIndex, Buckets, Hashing
from pyhudi.index.bucket_numbers import CountRules, NumberedBuckets, bucket_of
from pyhudi.index.index_options import BUCKET_COUNT, EXPRESSIONS, HASH_FIELDS
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.log_inserts import keys_in_logs, logs_of
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from pyhudi.kernels.base_file.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import FileGroupId, FileSlice

#: So many slices of a partition, and keys in them, are compared with the options; all, where there are not as many.
_LEAST_SLICES, _LEAST_KEYS = 2, 64
_MOST_SLICES = 64


@dataclass(frozen=True, slots=True)
class CheckedBuckets:
    """Buckets that are compared with the keys of a partition before rows are sent to them: elsewhere a key would occur twice."""

    hashing: Hashing
    lookup: LookupContext
    _checked: set[str] = field(default_factory=set)

    def buckets(self, view: FileSystemView, path: str) -> Buckets:
        """Return the buckets of a partition.

        Raises:
            OptionError: keys that are there belong to other buckets than those that they are in.
        """
        of_path = self.hashing.buckets(view, path)
        if path not in self._checked:
            _check(self.lookup, view, path, of_path)
            self._checked.add(path)
        return of_path


def check_buckets_of_others(index: BucketIndex, view: FileSystemView, paths: Iterable[str]) -> None:
    """Compare the buckets of a write with the keys that other writers have put into partitions in which it begins buckets, too.

    Args:
        index: the index of the write.
        view: the table under the lock of the write's completion.
        paths: the partitions.

    Raises:
        OptionError: the others have other buckets, and a key would occur twice.
    """
    if isinstance(index.hashing, CheckedBuckets):
        lookup = replace(index.hashing.lookup, view=view)
        for path in paths:
            _check(lookup, view, path, index.hashing.hashing.buckets(view, path))


def _check(lookup: LookupContext, view: FileSystemView, path: str, buckets: Buckets) -> None:
    """Refuse buckets that some keys of a partition are not in; a wrong number, or wrong fields, leave half of the keys in place at most."""
    checked = 0
    slices = sorted(view.latest_slices(path), key=lambda file_slice: file_slice.group.file_id, reverse=True)
    for number, file_slice in enumerate(slices):
        if number >= _LEAST_SLICES and checked >= _LEAST_KEYS:
            break
        keys = _some_keys(lookup, file_slice)
        checked += len(keys)
        for key, index in zip(keys, buckets.numbers(pa.array(keys, pa.string())).tolist(), strict=True):
            if not file_slice.group.file_id.startswith(buckets.beginnings[index]):
                raise OptionError(
                    f"the options contradict table {view.config.name}: by them the record key '{key}' belongs to bucket {index} of"
                    f" partition '{path}', and it is in file group {file_slice.group.file_id}. Leave out, or give as the table "
                    "was written with,"
                    f" {BUCKET_COUNT}, {HASH_FIELDS} and {EXPRESSIONS}."
                )


def derived_count(lookup: LookupContext, fields: Sequence[str], recent: Sequence[FileGroupId]) -> int:
    """Return the number of buckets that the keys in a table's buckets leave possible.

    Raises:
        OptionError: they leave several possible.
    """
    slices = _slices(lookup, recent)[:_MOST_SLICES]
    divisor, greatest = 0, -1
    for read in (_bounds, _all_keys):
        for file_slice in slices:
            bucket = bucket_of(file_slice.group.file_id) or 0
            greatest = max(greatest, bucket)
            hashes = list_hashes(pa.array(read(lookup, file_slice), pa.string()), fields)
            divisor = math.gcd(divisor, *(hashes - bucket).tolist())
        possible = [number for number in divisors(divisor) if number > greatest]
        if len(possible) == 1:
            return possible[0]
    raise OptionError(
        f"how many buckets the partitions of table {lookup.view.config.name} have cannot be known by its few keys: set {BUCKET_COUNT} to"
        " the number that it was written with"
    )


@dataclass(frozen=True, slots=True)
class ProvenBuckets:
    """The simple engine with the number of buckets that a table's keys prove, which is looked for when a row has to be placed."""

    fields: tuple[str, ...]
    lookup: LookupContext
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


def _slices(lookup: LookupContext, recent: Sequence[FileGroupId]) -> list[FileSlice]:
    """Return slices of one partition that was written of late, the greatest buckets first: they tell most."""
    for path in dict.fromkeys(group.partition_path for group in recent):
        matches = [file_slice for file_slice in lookup.view.latest_slices(path) if bucket_of(file_slice.group.file_id) is not None]
        if matches:
            return sorted(matches, key=lambda file_slice: file_slice.group.file_id, reverse=True)
    return []


def _bounds(lookup: LookupContext, file_slice: FileSlice) -> list[str]:
    """Return the least and the greatest key of the base file; the keys of the logs where there is none."""
    if file_slice.base is None:
        return _all_keys(lookup, file_slice)
    with open_parquet(lookup.storage, file_slice.base.path) as parquet:
        footer = footer_entries(parquet, lookup.storage, file_slice.base.path)
    return [footer[name] for name in (FOOTER_MIN_KEY, FOOTER_MAX_KEY) if name in footer]


def _some_keys(lookup: LookupContext, file_slice: FileSlice) -> list[str]:
    """Return the first keys of the base file, of which little is read for them; the keys of the logs where there is none."""
    if file_slice.base is None:
        return _all_keys(lookup, file_slice)
    with open_parquet(lookup.storage, file_slice.base.path) as parquet:
        batch = next(parquet.iter_batches(_LEAST_KEYS, columns=[RECORD_KEY]), None)
    result: list[str] = [] if batch is None else batch.column(0).to_pylist()
    return result


def _all_keys(lookup: LookupContext, file_slice: FileSlice) -> list[str]:
    if file_slice.base is None:
        born: list[str] = keys_in_logs(lookup.storage, lookup.context, logs_of(file_slice, lookup.view)).to_pylist()
        return born
    batches: Iterable[pa.RecordBatch] = iter_base_file(lookup.storage, file_slice.base, lookup.context.schema, [RECORD_KEY])
    return [key for batch in batches for key in batch.column(0).to_pylist()]


def divisors(number: int) -> Iterator[int]:
    """Yield the numbers that divide a number, in no order."""
    for least in range(1, math.isqrt(number) + 1):
        if number % least == 0:
            yield least
            if least * least != number:
                yield number // least
