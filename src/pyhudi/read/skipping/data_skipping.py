"""Which file slices a filtered read can leave out, and which index says so.

Rules: `HoodieFileIndex.lookupCandidateFilesInMetadataTable`, `DataSkippingUtils`. A slice is left out only on proof; whatever
goes wrong with an index, its slices are kept and a warning says why. An index is asked where that opens fewer files than
it may spare: the footers of the data files hold the same statistics, and are read anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import pyarrow.types as pt

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.fsview.slice_list import SliceList
from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.kernels.base_file.schema_projection import alignment_with
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.read.filter.condition import Column, Condition, FunctionCall, Operand, operands
from pyhudi.read.filter.point_predicates import implied_keys, implied_values
from pyhudi.read.skipping.bounds import Bounds, may_match
from pyhudi.read.skipping.bucket_pruning import BUCKET_INDEX, Buckets
from pyhudi.read.skipping.file_statistics import partition_bounds, slice_bounds
from pyhudi.read.skipping.function_bounds import bounds_of_call, keeps_order
from pyhudi.read.skipping.index_selection import MOST_VALUES, expression_indexes, without_values
from pyhudi.read.skipping.key_lookup import has_unique_keys, key_fields_of, keys_of_condition, locate
from pyhudi.read.skipping.partition_pruning import path_columns
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of
from pyhudi.spec.files.file_group import FileGroupId, FileSlice

_log = logging.getLogger(__name__)
#: Tells by an index which of some file slices stay.
_Test: TypeAlias = Callable[[MetadataTable, SliceList], Mask]
#: What rules out a partition whose path alone says that none of its rows matches.
BY_PATH: Final = "partition path"


@dataclass(frozen=True, slots=True)
class SkippingResult:
    """What of some partitions is read, and what is left out: partitions and slices, each with the index that proved it."""

    slices: Sequence[FileSlice]
    partitions_out: Mapping[str, str] = field(default_factory=dict)
    slices_out: Sequence[tuple[Sequence[FileSlice], str]] = ()
    #: The index that leaves out all slices that are not named here, if one does.
    others_out: str | None = None


def explain_pruning(
    snapshot: Snapshot, everything: Sequence[str], retained_paths: Sequence[str], skipping: Skipping | None
) -> list[tuple[FileSlice, str | None]]:
    """Return the file slices of all partitions, each with what rules it out, or None for those that are read.

    Args:
        snapshot: what is read.
        everything: all partition paths.
        retained_paths: those that the filter leaves by their paths.
        skipping: what indexes are asked; None to ask none.
    """
    by_path = set(retained_paths)
    chosen = SkippingResult(()) if skipping is None else skipping.choose(retained_paths)
    out: dict[FileGroupId, str | None] = {file_slice.group: index for file_slices, index in chosen.slices_out for file_slice in file_slices}
    out |= {file_slice.group: None for file_slice in chosen.slices}
    reasons: list[tuple[FileSlice, str | None]] = []
    for path in everything:
        of_path = chosen.partitions_out.get(path) if path in by_path else BY_PATH
        reasons.extend((file_slice, of_path or out.get(file_slice.group, chosen.others_out)) for file_slice in snapshot.slices(path))
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

    @collector_paused()
    def choose(self, paths: Sequence[str]) -> SkippingResult:
        """Return which file slices of these partitions are read; partitions that are left out are not listed."""
        selected = self._select_by_key(paths)
        if selected is not None:
            return selected
        partitions_out = self._partitions_out(paths)
        left = SliceList.joined(self.snapshot.slice_list(path) for path in paths if path not in partitions_out)
        out: list[tuple[Sequence[FileSlice], str]] = []
        if others := self._other_buckets(left):
            out.append((others, BUCKET_INDEX))
            removed = {file_slice.group for file_slice in others}
            left = left.take(position for position, file_slice in enumerate(left) if file_slice.group not in removed)
        for index, test in self._tests():
            stays = self._evaluate_index(index, test, left)
            if stays is not None and not stays.all():
                out.append((left.take(np.flatnonzero(~stays).tolist()), index))
                left = left.take(np.flatnonzero(stays).tolist())
        return SkippingResult(list(left), partitions_out, out)

    def _other_buckets(self, slices: Sequence[FileSlice]) -> list[FileSlice]:
        """Return the slices that are buckets of other records than those that can match."""
        key = key_fields_of(self.snapshot.config)
        if key is None or not self.snapshot.config.populate_meta_fields:
            return []
        try:
            return Buckets(self.snapshot.storage, self.condition, self.snapshot.schema, key).find_ruled_out(slices)
        except CorruptTableError as error:
            self._warn(BUCKET_INDEX, error)
            return []

    def _tests(self) -> Iterator[tuple[str, _Test]]:
        """Yield the indexes of files that can say something of the filter, each with the test of file slices by it."""
        if self._table is None:
            return
        if self._indexed(partitions.COLUMN_STATS):
            yield partitions.COLUMN_STATS, self._by_column_stats
        for definition, operand in self._expression_indexes:
            yield definition.name, partial(self._by_expression, definition, operand)
        if partitions.BLOOM_FILTERS in self._table.partitions:
            yield partitions.BLOOM_FILTERS, self._by_filters_of_keys

    def _evaluate_index(self, index: str, test: _Test, slices: SliceList) -> Mask | None:
        """Return which slices stay; None when the index does not tell, or asking it does not pay."""
        if self._table is None or not self._pays(index, len(slices)):
            return None
        try:
            return test(self._table, slices)
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return None

    def _select_by_key(self, paths: Sequence[str]) -> SkippingResult | None:
        """Return what is read when an index of keys says where the rows are that can match; None when none does."""
        table = self._table
        if table is None or table.is_ahead or self.snapshot.query.mode != "snapshot" or self.snapshot.scope:
            return None  # the index knows where records are now, of the whole table
        keys_and_index = keys_of_condition(table, self.condition, self.snapshot.schema, self.snapshot.config, self._warn)
        if keys_and_index is None:
            return None
        keys, index = keys_and_index
        try:
            if not has_unique_keys(self.snapshot, table, at_any_price=self.at_any_price):
                return None
            by_path = self._slices_of(locate(table, keys))
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(partitions.RECORD_INDEX, error)
            return None
        slices = SliceList.joined(by_path[path] for path in paths if path in by_path)
        return SkippingResult(list(slices), {path: index for path in paths if path not in by_path}, others_out=index)

    def _slices_of(self, groups: Mapping[str, set[str]]) -> dict[str, SliceList]:
        """Return the slices of file groups, both by partition path.

        Raises:
            CorruptTableError: one of them is not there.
        """
        result = {path: self.snapshot.slices_of(path, file_ids) for path, file_ids in groups.items()}
        for path, slices in result.items():
            if removed := groups[path].difference(slices.file_ids):
                raise CorruptTableError(f"it names file group {removed.pop()} in partition '{path}', which is not there")
        return result

    def _partitions_out(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the partitions that their statistics rule out, with the name of the index."""
        table, index = self._table, partitions.PARTITION_STATS
        if table is None or self._mixes_versions or self._has_other_names or table.is_ahead:
            return {}
        columns_of_filter = self._indexed(index)
        if not columns_of_filter or not self._pays(index, len(paths)):
            return {}
        try:
            stays = self._columns_may_match(
                len(paths), columns_of_filter, partition_bounds(table, {one.name: one.type for one in columns_of_filter}, paths)
            )
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return {}
        return {paths[int(position)]: index for position in np.flatnonzero(~stays)}

    def _by_column_stats(self, table: MetadataTable, slices: SliceList) -> Mask:
        index = partitions.COLUMN_STATS
        columns_of_filter = self._indexed(index)
        bounds = slice_bounds(table, index, {one.name: one.type for one in columns_of_filter}, slices.files(), self._has_names_of_today)
        return self._columns_may_match(len(slices), columns_of_filter, bounds) | self._unclear(slices)

    def _by_expression(self, definition: IndexDefinition, operand: Operand, table: MetadataTable, slices: SliceList) -> Mask:
        if definition.type == partitions.BLOOM_FILTERS:
            values = implied_values(self.condition, operand) if pt.is_string(operand.type) else None
            return self._by_filters(
                table, definition.name, slices, None if values is None else {one.as_py() for one in values if one.is_valid}
            )
        field = definition.source_fields[0]
        bounds = slice_bounds(table, definition.name, {field: operand.type}, slices.files(), self._has_names_of_today)
        return self._may_match(len(slices), {operand: bounds[field]} if bounds else {}) | self._unclear(slices)

    def _by_filters_of_keys(self, table: MetadataTable, slices: SliceList) -> Mask:
        implied = implied_keys(self.condition, self.snapshot.schema, key_fields_of(self.snapshot.config))
        return self._by_filters(table, partitions.BLOOM_FILTERS, slices, implied)

    def _by_filters(self, table: MetadataTable, index: str, slices: Sequence[FileSlice], strings: Collection[str] | None) -> Mask:
        if strings is None or len(strings) > MOST_VALUES:
            return np.ones(len(slices), dtype=bool)
        known = [
            file_slice for file_slice in slices if file_slice.base is not None and self._has_names_of_today(file_slice.base.name.instant)
        ]
        out = {file_slice.group for file_slice in without_values(table, index, known, strings)}
        return np.array([file_slice.group not in out for file_slice in slices], dtype=bool)

    def _columns_may_match(self, count: int, columns_of_filter: Sequence[Column], bounds: Mapping[str, Bounds]) -> Mask:
        known: dict[Operand, Bounds] = {column: bounds[column.name] for column in columns_of_filter if column.name in bounds}
        for call in self._calls:
            of_call = bounds_of_call(call, known[call.column]) if call.column in known else None
            if of_call is not None:
                known[call] = of_call
        return self._may_match(count, known)

    def _may_match(self, count: int, bounds: Mapping[Operand, Bounds]) -> Mask:
        return may_match(self.condition, bounds, count, nan_is_greatest=self.nan_is_greatest)

    def _unclear(self, slices: Sequence[FileSlice]) -> Mask:
        """Return where merging may make values that are in none of a slice's files."""
        if not self._mixes_versions:
            return np.zeros(len(slices), dtype=bool)
        return np.array([bool(file_slice.logs) for file_slice in slices], dtype=bool)

    @cached_property
    def _expression_indexes(self) -> list[tuple[IndexDefinition, Operand]]:
        try:
            indexes = [] if self._table is None else expression_indexes(self._table, self.condition)
            return [one for one in indexes if self._in_paths.isdisjoint(one[0].source_fields)]
        except CorruptTableError as error:
            self._warn("expr_index", error)
            return []

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

    def _pays(self, index: str, units: int) -> bool:
        """Tell whether asking an index opens fewer files than the units that it may spare."""
        if self.at_any_price:
            return units > 0
        table = self._table
        if table is None or units < 2:
            return False
        try:
            return table.files_to_open(index) < units
        except (CorruptTableError, UnsupportedError) as error:
            self._warn(index, error)
            return False

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        """The columns that the filter tests, but those whose name leaves open if a dot is part of it or leads into a struct."""
        dotted = {field.name for field in self.snapshot.schema if "." in field.name} | self._in_paths
        columns_of_filter = {operand for operand in operands(self.condition) if isinstance(operand, Column)} | {
            call.column for call in self._calls
        }
        plain = (column for column in columns_of_filter if column.name not in dotted and not any("." in part for part in column.path))
        return tuple(sorted(plain, key=lambda column: column.name))

    @cached_property
    def _in_paths(self) -> frozenset[str]:
        """The columns whose values are those of the path: what files say of them does not count."""
        return path_columns(self.snapshot.schema, self.snapshot.config)

    @cached_property
    def _calls(self) -> tuple[FunctionCall, ...]:
        """The tested functions whose values are bounded by those of their columns."""
        return tuple({operand: None for operand in operands(self.condition) if isinstance(operand, FunctionCall) and keeps_order(operand)})

    @cached_property
    def _table(self) -> MetadataTable | None:
        table, unused = self.snapshot.metadata_table, self.snapshot.query.unused_indexes
        return table.without(unused) if table is not None and unused else table

    @cached_property
    def _mixes_versions(self) -> bool:
        """True when merged rows may hold values that are in none of the files."""
        return self.snapshot.config.is_merge_on_read and self.snapshot.context.merger is not None

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
