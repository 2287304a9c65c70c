"""Which file slices a filtered read can leave out, and which index says so.

Rules: `HoodieFileIndex.lookupCandidateFilesInMetadataTable`, `DataSkippingUtils`. A slice is left out only on proof; whatever
goes wrong with an index, its slices are kept and a warning says why. An index is asked where that opens fewer files than
it may spare: the footers of the data files hold the same statistics, and are read anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.aligned_rows import alignment_with
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.table import MetadataTable
from pyhudi.read.bounds import Bounds, may_match
from pyhudi.read.condition import Column, Condition, Operand, columns
from pyhudi.read.file_statistics import partition_bounds, slice_bounds
from pyhudi.read.snapshot import Snapshot
from pyhudi.schema.internal.history import SchemaHistory, history_of
from pyhudi.spec.file_group import FileSlice

_log = logging.getLogger(__name__)
Unit = TypeVar("Unit", str, FileSlice)
#: What rules out a partition whose path alone says that none of its rows matches.
BY_PATH: Final = "partition path"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What of some partitions is read, and what is left out: partitions and slices, each with the index that proved it."""

    slices: tuple[FileSlice, ...]
    partitions_out: Mapping[str, str] = field(default_factory=dict)
    slices_out: Mapping[FileSlice, str] = field(default_factory=dict)


def explained(
    snapshot: Snapshot, everything: Sequence[str], found: Sequence[str], skipping: Skipping | None
) -> list[tuple[FileSlice, str | None]]:
    """Return the file slices of all partitions, each with what rules it out, or None for those that are read.

    Args:
        snapshot: what is read.
        everything: all partition paths.
        found: those that the filter leaves by their paths.
        skipping: what indexes are asked; None to ask none.
    """
    by_path = set(found)
    chosen = Chosen(()) if skipping is None else skipping.choose(found)
    reasons: list[tuple[FileSlice, str | None]] = []
    for path in everything:
        of_path = chosen.partitions_out.get(path) if path in by_path else BY_PATH
        reasons.extend((piece, of_path or chosen.slices_out.get(piece)) for piece in snapshot.slices(path))
    return reasons


@dataclass(frozen=True)
class Skipping:
    """Chooses what a filter needs of a snapshot.

    Attributes:
        snapshot: what is read.
        condition: the filter.
        nan_is_greatest: see `may_match`.
        at_any_price: ask every index, whether that pays or not.
    """

    snapshot: Snapshot
    condition: Condition
    nan_is_greatest: bool = False
    at_any_price: bool = False

    def choose(self, paths: Sequence[str]) -> Chosen:
        """Return which file slices of these partitions are read; partitions that are left out are not listed."""
        partitions_out = self._partitions_out(paths)
        kept = [path for path in paths if path not in partitions_out]
        slices = [piece for path in kept for piece in self.snapshot.slices(path)]
        slices_out = self._slices_out(slices)
        return Chosen(tuple(piece for piece in slices if piece not in slices_out), partitions_out, slices_out)

    def _partitions_out(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the partitions that their statistics rule out."""
        table = self._table
        if table is None or self._mixes_versions or self._has_other_names or table.is_ahead:
            return {}
        return self._ruled_out(partitions.PARTITION_STATS, paths, lambda column: partition_bounds(table, column, paths))

    def _slices_out(self, slices: Sequence[FileSlice]) -> dict[FileSlice, str]:
        """Return the file slices that the statistics of their files rule out."""
        table = self._table
        if table is None:
            return {}
        judged = [piece for piece in slices if not (piece.logs and self._mixes_versions)]
        stats = partitions.COLUMN_STATS
        return self._ruled_out(
            stats, judged, lambda column: slice_bounds(table, stats, column.name, column.type, judged, self._has_names_of_today)
        )

    def _ruled_out(self, index: str, units: Sequence[Unit], bounds_of: Callable[[Column], Bounds]) -> dict[Unit, str]:
        """Return the units which statistics rule out, with the name of the index."""
        asked = self._indexed(index)
        if not asked or not self._pays(index, len(asked), len(units)):
            return {}
        try:
            bounds: dict[Operand, Bounds] = {column: bounds_of(column) for column in asked}
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return {}
        found = may_match(self.condition, bounds, len(units), nan_is_greatest=self.nan_is_greatest)
        return {unit: index for unit, stays in zip(units, found, strict=True) if not stays}

    def _indexed(self, index: str) -> list[Column]:
        """Return the tested columns that an index of statistics has, as far as its definition tells."""
        table = self._table
        if table is None or index not in table.partitions:
            return []
        try:
            definition = table.definitions.get(partitions.COLUMN_STATS)
        except CorruptTableError as error:
            self._warn(index, error)
            return []
        known = None if definition is None or not definition.source_fields else set(definition.source_fields)
        return [column for column in self._columns if known is None or column.name in known]

    def _pays(self, index: str, questions: int, units: int) -> bool:
        """Tell whether asking an index opens fewer files than the units that it may spare."""
        if self.at_any_price:
            return units > 0
        table = self._table
        if table is None or units < 2:
            return False
        try:
            return table.files_to_open(index) * questions < units
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return False

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        """The columns that the filter tests, but those whose name leaves open if a dot is part of it or leads into a struct."""
        dotted = {field.name for field in self.snapshot.schema if "." in field.name}
        tested = (column for column in columns(self.condition) if not any("." in part for part in column.path))
        return tuple(column for column in tested if column.name not in dotted)

    @cached_property
    def _table(self) -> MetadataTable | None:
        return self.snapshot.metadata_table

    @cached_property
    def _mixes_versions(self) -> bool:
        """True when merged rows may hold values that are in none of the files."""
        return self.snapshot.config.is_merge_on_read and self.snapshot.shape.merger is not None

    @cached_property
    def _history(self) -> SchemaHistory | None:
        return history_of(self.snapshot.schema)

    @property
    def _has_other_names(self) -> bool:
        """True when some files have columns under other names, or of other types, than the table today."""
        history = self._history
        return history is not None and any(alignment_with(history, version) is not None for version in history.versions)

    def _has_names_of_today(self, instant: str) -> bool:
        history = self._history
        return history is None or alignment_with(history, history.at(instant)) is None

    def _warn(self, index: str, error: Exception) -> None:
        _log.warning("%s of table %s is not used, its files are read instead: %s", index, self.snapshot.storage.uri, error)
