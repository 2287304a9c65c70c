"""Finds keys by the record index of the metadata table, which knows where each record lives, without opening a data file.

Rules: `SparkMetadataTableGlobalRecordLevelIndex`, `SparkMetadataTableRecordLevelIndex`. Where the record index is missing, behind or
damaged, or names a file group that is gone, keys are looked for in the files, with a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.probe import KeyScan
from pyhudi.index.protocol import Hits, Lookup, Wanted
from pyhudi.kernels.probe import SEVERAL
from pyhudi.metadata_table.partitions import RECORD_INDEX
from pyhudi.metadata_table.record import RecordLocation
from pyhudi.metadata_table.table import MetadataTable
from pyhudi.spec.file_group import FileGroupId, FileSlice

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordIndexLookup:
    """Asks the record index, and `otherwise` when it cannot be asked."""

    otherwise: KeyScan = field(default_factory=KeyScan)

    def find(self, wanted: Sequence[Wanted], lookup: Lookup) -> list[list[Hits]]:
        """Return, for each question, the slices that hold some of its keys."""
        try:
            return _found(wanted, lookup)
        except (CorruptTableError, UnsupportedError) as error:
            _log.warning("the record index of %s is not asked, its files are instead: %s", lookup.storage.uri, error)
            return self.otherwise.find(wanted, lookup)


def _found(wanted: Sequence[Wanted], lookup: Lookup) -> list[list[Hits]]:
    view = lookup.view
    if RECORD_INDEX not in view.config.metadata_partitions:
        raise UnsupportedError("the table has none (hoodie.table.metadata.partitions)")
    table = MetadataTable.open(lookup.storage, view.config, view.timeline)
    if missing := table.missing_instants:
        raise CorruptTableError(f"the metadata table does not know of {len(missing)} writes, the first is {missing[0]}")
    return [_hits_of(one, _places(table, one), lookup) for one in wanted]


def _places(table: MetadataTable, wanted: Wanted) -> Mapping[str, Sequence[RecordLocation]]:
    """Return where the keys live; in an index by partition a key may live in several."""
    if wanted.partition_path is None:
        return table.record_places(wanted.keys.unique().to_pylist())
    found = table.lookup_record_keys(wanted.keys.unique().to_pylist(), wanted.partition_path)
    return {key: [place] for key, place in found.items() if place.partition_path == wanted.partition_path}


def _hits_of(wanted: Wanted, places: Mapping[str, Sequence[RecordLocation]], lookup: Lookup) -> list[Hits]:
    rows: dict[FileGroupId, list[int]] = {}
    for row, key in enumerate(wanted.keys.to_pylist()):
        for place in places.get(key, ()):
            rows.setdefault(FileGroupId(place.partition_path, place.file_id), []).append(row)
    return [Hits(_slice_of(group, lookup), _marked(found, len(wanted.keys))) for group, found in rows.items()]


def _marked(rows: Sequence[int], count: int) -> pa.Int64Array:
    """Return `SEVERAL`, which is no place, for these of the rows: the record index names no places."""
    known = np.zeros(count, bool)
    known[rows] = True
    return pa.array(np.full(count, SEVERAL, np.int64), mask=~known)


def _slice_of(group: FileGroupId, lookup: Lookup) -> FileSlice:
    for piece in lookup.view.latest_slices(group.partition_path):
        if piece.group == group:
            return piece
    raise CorruptTableError(f"it names file group {group.file_id} in partition '{group.partition_path}', which is not there")
