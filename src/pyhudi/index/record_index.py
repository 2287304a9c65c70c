"""Finds keys by the record index of the metadata table, which knows where each record lives, without opening a data file.

Rules: `SparkMetadataTableGlobalRecordLevelIndex`, `SparkMetadataTableRecordLevelIndex`. Where the record index is missing, behind or
damaged, or names a file group that is missing, keys are looked for in the files, with a warning. An index over the whole table knows one
place of a key: when that is not in the partition asked for, the files of this one are looked through for the key. None counts, too: the
key may have lived in two partitions, and was deleted in the one that the index knew.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Hits, KeyLookup, LookupContext
from pyhudi.index.metadata_lookup import usable_metadata_table
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.metadata_table.format.record import RecordLocation
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.spec.files.file_group import FileGroupId, FileSlice

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordIndexLookup:
    """Asks the record index, and `otherwise` when it cannot be asked."""

    otherwise: KeyScan = field(default_factory=KeyScan)

    def locate(self, key_lookups: Sequence[KeyLookup], lookup: LookupContext) -> list[list[Hits]]:
        """Return, for each question, the slices that hold some of its keys."""
        try:
            return self._look_up(key_lookups, lookup)
        except (CorruptTableError, UnsupportedError) as error:
            _log.warning("the record index of %s is not asked, its files are instead: %s", lookup.storage.uri, error)
            return self.otherwise.locate(key_lookups, lookup)

    def _look_up(self, key_lookups: Sequence[KeyLookup], lookup: LookupContext) -> list[list[Hits]]:
        table = usable_metadata_table(lookup, RECORD_INDEX)
        indices = [_find_locations(table, one) for one in key_lookups]
        is_exact = table.is_by_partition or not lookup.view.config.partition_fields
        missing = [_missing_keys(one, locations, is_exact=is_exact) for one, locations in zip(key_lookups, indices, strict=True)]
        scanned = self.otherwise.locate(missing, lookup) if any(len(one.keys) for one in missing) else [[] for _ in key_lookups]
        return [
            _one_a_slice([*_hits_of(one, locations, lookup), *(_spread(hits, others, one) for hits in more)])
            for one, locations, others, more in zip(key_lookups, indices, missing, scanned, strict=True)
        ]


def _find_locations(table: MetadataTable, key_lookup: KeyLookup) -> Mapping[str, Sequence[RecordLocation]]:
    """Return where the keys live; in an index by partition a key may live in several."""
    if key_lookup.partition_path is None:
        return table.record_locations(key_lookup.keys.unique().to_pylist())
    locations = table.lookup_record_keys(key_lookup.keys.unique().to_pylist(), key_lookup.partition_path)
    return {key: [location] for key, location in locations.items()}


def _missing_keys(key_lookup: KeyLookup, locations: Mapping[str, Sequence[RecordLocation]], *, is_exact: bool) -> KeyLookup:
    """Return the keys that the index does not know in the partition asked for, where they may live in it nevertheless."""
    path = key_lookup.partition_path
    if path is None or is_exact:
        return KeyLookup(pa.array([], pa.string()), path)
    keys = key_lookup.keys.unique().to_pylist()
    return KeyLookup(
        pa.array([key for key in keys if all(location.partition_path != path for location in locations.get(key, ()))], pa.string()), path
    )


def _one_a_slice(all_hits: Sequence[Hits]) -> list[Hits]:
    """Return the hits so that each slice occurs once; no key has hits of both origins."""
    rows: dict[FileSlice, pa.Int64Array] = {}
    for hits in all_hits:
        rows[hits.file_slice] = pc.coalesce(rows[hits.file_slice], hits.rows) if hits.file_slice in rows else hits.rows
    return [Hits(file_slice, indices) for file_slice, indices in rows.items()]


def _spread(hits: Hits, subset: KeyLookup, key_lookup: KeyLookup) -> Hits:
    """Return hits of some keys as those of all."""
    return Hits(hits.file_slice, hits.rows.take(pc.index_in(key_lookup.keys, value_set=subset.keys)))


def _hits_of(key_lookup: KeyLookup, locations: Mapping[str, Sequence[RecordLocation]], lookup: LookupContext) -> list[Hits]:
    rows: dict[FileGroupId, list[int]] = {}
    for row, key in enumerate(key_lookup.keys.to_pylist()):
        for location in locations.get(key, ()):
            if key_lookup.partition_path in (None, location.partition_path):
                rows.setdefault(FileGroupId(location.partition_path, location.file_id), []).append(row)
    return [Hits(_slice_of(group, lookup), _mark_rows(rows_of_hits, len(key_lookup.keys))) for group, rows_of_hits in rows.items()]


def _mark_rows(rows: Sequence[int], count: int) -> pa.Int64Array:
    """Return `SEVERAL`, which is no position, for these of the rows: the record index holds no positions."""
    known = np.zeros(count, bool)
    known[rows] = True
    return pa.array(np.full(count, SEVERAL, np.int64), mask=~known)


def _slice_of(group: FileGroupId, lookup: LookupContext) -> FileSlice:
    for file_slice in lookup.view.latest_slices(group.partition_path):
        if file_slice.group == group:
            return file_slice
    raise CorruptTableError(f"it names file group {group.file_id} in partition '{group.partition_path}', which is not there")
