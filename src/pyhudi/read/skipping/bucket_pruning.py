"""Which buckets can hold the records that a filter means, in tables that were written by the index BUCKET.

Rules: `BucketIndexSupport`. Apache Hudi takes number and fields of the hash from the reader's options; here they are what keys of the table
leave possible: the least and greatest keys of some buckets. Of several numbers that are possible, each keeps its buckets.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import pyarrow as pa

from pyhudi.cache import LruCache
from pyhudi.index.bucket_numbers import bucket_of, names_buckets
from pyhudi.index.bucket_validation import divisors
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from pyhudi.kernels.base_file.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.read.filter.condition import Condition
from pyhudi.read.filter.point_predicates import keys_by_fields
from pyhudi.spec.files.file_group import BaseFile, FileSlice
from pyhudi.storage.storage_protocol import Storage

#: What rules out a bucket, as plans name it.
BUCKET_INDEX: Final = "bucket index"
#: So many buckets of a partition are looked at, the greatest, and so many in all: their footers are opened.
_OF_A_PARTITION, _IN_ALL = 4, 64
#: Of keys with more fields, not every choice of hash fields is tried.
_MOST_FIELDS: Final = 4

Fields: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Buckets:
    """Rules out buckets of one table for one filter.

    Attributes:
        storage: the table's.
        condition: the filter.
        schema: the table's columns.
        key: how record keys are made of them.
    """

    storage: Storage
    condition: Condition
    schema: pa.Schema
    key: KeyFields

    def find_ruled_out(self, slices: Sequence[FileSlice]) -> list[FileSlice]:
        """Return the file slices that are buckets which none of the wanted records belongs to.

        Raises:
            CorruptTableError: a base file is damaged.
        """
        if not slices or len(self.key.key_fields) > _MOST_FIELDS or bucket_of(slices[0].group.file_id) is None:
            return []
        choices = [choice for count in range(len(self.key.key_fields), 0, -1) for choice in combinations(self.key.key_fields, count)]
        hashes = {fields: self._possible_hashes(fields) for fields in choices}
        if all(hashes_of_field is None for hashes_of_field in hashes.values()):
            return []
        by_path: dict[str, list[FileSlice]] = {}
        for file_slice in slices:
            by_path.setdefault(file_slice.group.partition_path, []).append(file_slice)
        if min(len(by_path) * _OF_A_PARTITION, len(slices)) > _IN_ALL:
            return []
        return [file_slice for file_slices in by_path.values() for file_slice in self._out(file_slices, hashes)]

    def _possible_hashes(self, fields: Fields) -> list[int] | None:
        """Return the hashes of the wanted records when these fields are hashed; None when they may have any."""
        keys = keys_by_fields(self.condition, self.schema, self.key, fields)
        return None if keys is None else list_hashes(pa.array(sorted(keys), pa.string()), fields).tolist()

    def _out(self, file_slices: Sequence[FileSlice], hashes: dict[Fields, list[int] | None]) -> list[FileSlice]:
        """Return which slices of a partition are ruled out by every number of buckets, and every choice of fields, that is possible."""
        if len(file_slices) < 2 or not names_buckets([file_slice.group for file_slice in file_slices]):
            return []
        keys = self._known_keys(file_slices)
        greatest = max(bucket_of(file_slice.group.file_id) or 0 for file_slice in file_slices)
        possible = {fields: possible_counts(keys, fields, greatest) for fields in hashes}
        # By none of them: the file groups are no buckets.
        if not any(possible.values()) or any(counts is None or (counts and hashes[fields] is None) for fields, counts in possible.items()):
            return []
        retained = {one % count for fields, counts in possible.items() for one in hashes[fields] or () for count in counts or ()}
        return [file_slice for file_slice in file_slices if bucket_of(file_slice.group.file_id) not in retained]

    def _known_keys(self, file_slices: Sequence[FileSlice]) -> dict[int, Collection[str]]:
        """Return some keys by their bucket."""
        latest = sorted(
            (file_slice for file_slice in file_slices if file_slice.base is not None),
            key=lambda file_slice: file_slice.group.file_id,
            reverse=True,
        )
        return {
            bucket_of(one.group.file_id) or 0: _keys_of(self.storage, one.base) for one in latest[:_OF_A_PARTITION] if one.base is not None
        }


def possible_counts(keys: dict[int, Collection[str]], fields: Fields, greatest: int) -> list[int] | None:
    """Return the numbers of buckets by which some keys belong where they are; None when they leave all numbers possible.

    Args:
        keys: some record keys, by the bucket that they are in.
        fields: the key fields that are hashed.
        greatest: the greatest bucket that there is.
    """
    divisor = 0
    for bucket, keys_of_bucket in keys.items():
        divisor = math.gcd(divisor, *(list_hashes(pa.array(keys_of_bucket, pa.string()), fields) - bucket).tolist())
    return [count for count in divisors(divisor) if count > greatest] if divisor else None


_keys: Final[LruCache[tuple[str, str], tuple[str, ...]]] = LruCache(100_000)


def _keys_of(storage: Storage, file: BaseFile) -> tuple[str, ...]:
    """Return the least and the greatest key of a base file, none when its footer does not tell."""
    index = (storage.uri, file.path)
    known = _keys.get(index)
    if known is None:
        with open_parquet(storage, file.path) as parquet:
            footer = footer_entries(parquet, storage, file.path)
        known = tuple(footer[name] for name in (FOOTER_MIN_KEY, FOOTER_MAX_KEY) if name in footer)
        _keys.put(index, known)
    return known
