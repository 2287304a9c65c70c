"""The file groups of the record index, one by one, as the tasks of an engine ask them.

`MetadataTable` answers in one process. Where keys are many they are sent to the file groups that may hold them, by the hash that placed
them there, and each group is asked by one task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.metadata_table.format.record import RecordLocation
from pyhudi.metadata_table.format.shards import shards
from pyhudi.metadata_table.read.partition_reader import MetadataPartition


@dataclass(frozen=True, slots=True)
class RecordIndexGroups:
    """The record index by file groups, numbered from 0 on through all of its parts. Pickles.

    `parts` has one part for each partition of the data table, or one of empty name for the whole table.
    """

    parts: Mapping[str, MetadataPartition]
    is_by_partition: bool

    @property
    def count(self) -> int:
        """How many file groups there are."""
        return sum(len(part.slices) for part in self.parts.values())

    def numbers(self, keys: pa.StringArray, partition_paths: pa.StringArray) -> Indices:
        """Return the number of the file group that may hold each key, -1 where none does; no key is null."""
        result, first = np.full(len(keys), -1, np.int64), 0
        paths = np.array(partition_paths.to_pylist(), object) if self.is_by_partition else None
        for path, part in self.parts.items():
            rows = np.arange(len(keys)) if paths is None else np.flatnonzero(paths == path)
            if len(rows) and part.slices:
                result[rows] = first + shards(keys.take(pa.array(rows)), len(part.slices))
            first += len(part.slices)
        return result

    def locations(self, number: int, keys: Iterable[str]) -> Iterator[tuple[str, RecordLocation]]:
        """Yield where those of the keys live that the file group of a number holds.

        Raises:
            CorruptTableError: it is damaged, or holds something else.
        """
        for part in self.parts.values():
            if number < len(part.slices):
                for key, record in part.get_from(number, keys):
                    if not isinstance(record, RecordLocation):
                        raise CorruptTableError(f"the partition {part.name} of the metadata table holds a {type(record).__name__}")
                    yield key, record
                return
            number -= len(part.slices)
