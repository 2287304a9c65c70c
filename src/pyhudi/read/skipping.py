"""Which file slices a filtered read can leave out, and which index says so.

Rules: `HoodieFileIndex.lookupCandidateFilesInMetadataTable`, `DataSkippingUtils`. A slice is left out only on proof; whatever
goes wrong with an index, its slices are kept and a warning says why. An index is asked where that opens fewer files than
it may spare: the footers of the data files hold the same statistics, and are read anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.aligned_rows import alignment_with
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.index_definitions import IndexDefinition
from pyhudi.metadata_table.table import MetadataTable
from pyhudi.read.bounds import Bounds, may_match
from pyhudi.read.condition import Column, Condition, Operand, columns
from pyhudi.read.file_statistics import partition_bounds, slice_bounds
from pyhudi.read.implied import implied_keys, implied_values
from pyhudi.read.index_choice import MOST_VALUES, expression_indexes, without_values
from pyhudi.read.located import Located, has_unique_keys, key_fields_of, locate, wanted_keys
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
        located = self._located()
        if located is not None:
            return self._at(located, paths)
        partitions_out = self._partitions_out(paths)
        kept = [path for path in paths if path not in partitions_out]
        slices = [piece for path in kept for piece in self.snapshot.slices(path)]
        slices_out: dict[FileSlice, str] = {}
        for ruled_out in (self._slices_out, self._out_by_expressions, self._out_by_filters):
            slices_out |= ruled_out([piece for piece in slices if piece not in slices_out])
        return Chosen(tuple(piece for piece in slices if piece not in slices_out), partitions_out, slices_out)

    def _located(self) -> Located | None:
        """Return where indexes of keys have the rows that can match; None when they do not tell."""
        table = self._table
        if table is None or table.is_ahead or self.snapshot.query.mode != "snapshot" or self.snapshot.scope:
            return None  # the index knows where records are now, of the whole table
        index = partitions.RECORD_INDEX
        try:
            wanted = wanted_keys(table, self.condition, self.snapshot.schema, self.snapshot.config)
            if wanted is None:
                return None
            keys, index = wanted
            if not has_unique_keys(self.snapshot, table, at_any_price=self.at_any_price):
                return None
            located = locate(table, keys, index)
            self._check_are_there(located)
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return None
        return located

    def _check_are_there(self, located: Located) -> None:
        for path in {group.partition_path for group in located.groups}:
            known = {piece.group for piece in self.snapshot.slices(path)}
            if gone := {group for group in located.groups if group.partition_path == path} - known:
                raise CorruptTableError(f"it names file group {gone.pop().file_id} in partition '{path}', which is not there")

    def _at(self, located: Located, paths: Sequence[str]) -> Chosen:
        """Return the slices of the file groups that were found, as far as they are in these partitions."""
        there = {group.partition_path for group in located.groups}
        slices = [piece for path in paths if path in there for piece in self.snapshot.slices(path)]
        return Chosen(
            tuple(piece for piece in slices if piece.group in located.groups),
            {path: located.index for path in paths if path not in there},
            {piece: located.index for piece in slices if piece.group not in located.groups},
        )

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

    def _out_by_expressions(self, slices: Sequence[FileSlice]) -> dict[FileSlice, str]:
        """Return the file slices that expression indexes rule out: by bounds of the function's values, or by filters of them."""
        table = self._table
        found: dict[FileSlice, str] = {}
        for definition, operand in self._expression_indexes:
            left = [piece for piece in slices if piece not in found and not (piece.logs and self._mixes_versions)]
            if table is None or not self._pays(definition.name, 1, len(left)):
                continue
            try:
                if definition.type == partitions.BLOOM_FILTERS:
                    found |= self._out_by_values(table, definition.name, left, self._texts_of(operand))
                else:
                    bounds = slice_bounds(table, definition.name, definition.source_fields[0], operand.type, left, self._has_names_of_today)
                    found |= self._judged(definition.name, left, {operand: bounds})
            except (CorruptTableError, UnsupportedError) as error:
                self._warn(definition.name, error)
        return found

    def _out_by_filters(self, slices: Sequence[FileSlice]) -> dict[FileSlice, str]:
        """Return the file slices whose bloom filters hold none of the record keys that can match."""
        table, index = self._table, partitions.BLOOM_FILTERS
        if table is None or index not in table.partitions:
            return {}
        wanted = implied_keys(self.condition, self.snapshot.schema, key_fields_of(self.snapshot.config))
        if wanted is None or not self._pays(index, 1, len(slices)):
            return {}
        try:
            return self._out_by_values(table, index, slices, wanted)
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return {}

    def _out_by_values(
        self, table: MetadataTable, index: str, slices: Sequence[FileSlice], texts: Collection[str] | None
    ) -> dict[FileSlice, str]:
        if texts is None or len(texts) > MOST_VALUES:
            return {}
        known = [piece for piece in slices if piece.base is not None and self._has_names_of_today(piece.base.name.instant)]
        return dict.fromkeys(without_values(table, index, known, texts), index)

    def _texts_of(self, operand: Operand) -> set[str] | None:
        values = implied_values(self.condition, operand) if pt.is_string(operand.type) else None
        return None if values is None else {value.as_py() for value in values if value.is_valid}

    @cached_property
    def _expression_indexes(self) -> list[tuple[IndexDefinition, Operand]]:
        try:
            return [] if self._table is None else list(expression_indexes(self._table, self.condition))
        except CorruptTableError as error:
            self._warn("expr_index", error)
            return []

    def _judged(self, index: str, units: Sequence[Unit], bounds: Mapping[Operand, Bounds]) -> dict[Unit, str]:
        found = may_match(self.condition, bounds, len(units), nan_is_greatest=self.nan_is_greatest)
        return {unit: index for unit, stays in zip(units, found, strict=True) if not stays}

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
        return self._judged(index, units, bounds)

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
