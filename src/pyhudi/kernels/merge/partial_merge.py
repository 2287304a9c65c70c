"""Merging where a row can take values from several versions: partial updates, and mergers of the table's owner.

The rule on two versions: `pyhudi.merge.apply_rule.apply_incoming`. Each base row that the logs name, and each key without one, is a target;
the versions of its key are applied to it one after the other, the n-th versions of all targets at once. A row is held as the numbers of
the versions that its values come from, so that values are moved once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.ordering_columns import ordering_columns
from pyhudi.kernels.arrays.record_versions import ranks
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.log_file.log_rows import LogRows
from pyhudi.kernels.merge.base_row_lookup import BaseMatch
from pyhudi.merge.partial_update import FillPolicy
from pyhudi.schema.field_paths import head_column
from pyhudi.spec.table.payload_class import PartialMode

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Targets:
    """The rows that versions are applied to: first the base rows, then one for each key without.

    Versions are numbered: first those of the logs, then the base rows. `groups` are the numbers of the targets' keys, `start` their base
    rows as versions or -1.
    """

    groups: Indices
    start: Indices
    rounds: tuple[tuple[Indices, Indices], ...]

    @property
    def has_base(self) -> Mask:
        """Which targets are base rows."""
        return self.start >= 0


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What became of the targets: which have changed, which are deleted, and which came back after a delete by commit time."""

    changed: Mask
    deleted: Mask
    reinserted: Mask

    def live_targets(self, targets: Targets) -> Indices:
        """Return the targets whose rows are in the delta.

        Rows that replace base rows occur once for each of them; a record that was deleted before is new, and occurs once.
        """
        is_live = self.changed & ~self.deleted
        again = np.flatnonzero(is_live & self.reinserted)
        first = again[np.unique(targets.groups[again], return_index=True)[1]]
        return np.sort(np.concatenate([np.flatnonzero(is_live & ~self.reinserted), first]))


def targets_of(groups: Indices, match: BaseMatch) -> Targets:
    """Return the targets of the versions in the logs, whose keys have the numbers `groups`."""
    count = int(groups.max()) + 1 if len(groups) else 0
    new = np.setdiff1d(np.arange(count), match.groups)
    of_targets = np.concatenate([match.groups, new])
    start = np.concatenate([len(groups) + np.arange(len(match.rows)), np.full(len(new), _NOBODY)])
    return Targets(of_targets, start, tuple(_rounds(groups, of_targets, count)))


def _rounds(groups: Indices, of_targets: Indices, count: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield for each n the targets that have an n-th version, and its number."""
    in_order = np.argsort(groups, kind="stable")
    lengths = np.bincount(groups, minlength=count)
    begins = np.cumsum(lengths) - lengths
    targets = np.arange(len(of_targets))
    for turn in range(int(lengths.max(initial=0))):
        targets = targets[lengths[of_targets[targets]] > turn]
        yield targets, in_order[begins[of_targets[targets]] + turn]


def merge_versions(context: RecordContext, log: LogRows, versions: pa.Table, targets: Targets) -> tuple[MergeOutcome, dict[str, Indices]]:
    """Apply the versions of the logs to their targets; returns for each column, too, from which version a target's value comes.

    Args:
        context: what the rows of the table look like.
        log: the versions of the logs.
        versions: the rows of the logs, then the base rows.
        targets: what they are applied to.
    """
    state = _MergeState(context, log, versions, targets)
    for indices, numbers in targets.rounds:
        state.apply(indices, numbers)
    return MergeOutcome(state.changed, state.deleted | state.empty, state.reinserted), state.sources


class _MergeState:
    """The state of all targets while versions are applied to them."""

    def __init__(self, context: RecordContext, log: LogRows, versions: pa.Table, targets: Targets) -> None:
        count = len(targets.start)
        more = versions.num_rows - len(log.deletes)
        self._targets = targets
        self._delete_versions = np.concatenate([log.deletes, np.zeros(more, bool)])
        self._commit_time_delete_versions = np.concatenate([log.commit_time_deletes, np.zeros(more, bool)])
        self._has_column = _ColumnPresence(log, versions.num_rows)
        fields = context.compared_fields
        self._ranks = {name: ranks(column) for name, column in zip(fields, ordering_columns(versions, fields), strict=True)}
        self._present_masks = {} if context.fill_policy is None else _present_masks(versions, context)
        self._ordered_by = {name: targets.start.copy() for name in fields}
        self.sources = {name: targets.start.copy() for name in versions.schema.names}
        self.empty = ~targets.has_base
        self.deleted, self._deleted_by_commit_time, self._was_deleted, self.changed, self.reinserted = (
            np.zeros(count, bool) for _ in range(5)
        )

    def apply(self, targets: Indices, versions: Indices) -> None:
        """Apply a version to each of some targets."""
        is_delete, is_commit_time_delete = self._delete_versions[versions], self._commit_time_delete_versions[versions]
        free = self.empty[targets] | self._deleted_by_commit_time[targets] | is_commit_time_delete
        wins = free | self._at_least(targets, versions)
        merges = ~(self.empty[targets] | self.deleted[targets] | is_delete)
        filled = self._move_values(targets, versions, wins, merges)
        for name, source in self._ordered_by.items():
            takes = wins & (self._has_column(head_column(name), versions) | self.empty[targets])
            source[targets[takes]] = versions[takes]
        self.reinserted[targets] |= wins & self._was_deleted[targets] & ~is_delete
        self.deleted[targets] = np.where(wins, is_delete, self.deleted[targets])
        self._deleted_by_commit_time[targets] = np.where(wins, is_commit_time_delete, self._deleted_by_commit_time[targets])
        self._was_deleted[targets] |= is_commit_time_delete
        self.empty[targets] = False
        self.changed[targets] |= wins | filled

    def _at_least(self, targets: Indices, versions: Indices) -> Mask:
        """Say which versions have ordering values not smaller than those of their targets."""
        result = np.ones(len(targets), bool)
        for name, rank in reversed(self._ranks.items()):
            stored_ranks = rank[self._ordered_by[name][targets]]
            new = np.where(self._has_column(head_column(name), versions), rank[versions], stored_ranks)
            result = (new > stored_ranks) | ((new == stored_ranks) & result)
        return result

    def _move_values(self, targets: Indices, versions: Indices, wins: Mask, merges: Mask) -> Mask:
        """Note where the values of the targets come from now; returns which late versions have filled a gap."""
        filled = np.zeros(len(targets), bool)
        for name, source in self.sources.items():
            current, has_value = source[targets], self._has_column(name, versions)
            gap = self._present_masks.get(name)
            if gap is None:
                source[targets] = np.where(wins, np.where(has_value, versions, np.where(merges, current, _NOBODY)), current)
                continue
            on_top = np.where(merges, np.where(has_value & ~gap[versions], versions, current), np.where(has_value, versions, _NOBODY))
            fills = ~wins & merges & self._has_column.everything(versions) & gap[current] & ~gap[versions]
            source[targets] = np.where(wins, on_top, np.where(fills, versions, current))
            filled |= fills
        return filled


class _ColumnPresence:
    """Which versions bring which columns: those of partial blocks bring some."""

    def __init__(self, log: LogRows, versions: int) -> None:
        self._present_columns = log.present_columns
        self._block = np.concatenate([log.block, np.full(versions - len(log.block), len(log.present_columns))])

    def __call__(self, name: str, versions: Indices) -> Mask:
        """Say for each version whether it brings the column."""
        by_block = np.array([present is None or name in present for present in (*self._present_columns, None)])
        result: Mask = by_block[self._block[versions]]
        return result

    def everything(self, versions: Indices) -> Mask:
        """Say for each version whether it brings all columns."""
        by_block = np.array([present is None for present in (*self._present_columns, None)])
        result: Mask = by_block[self._block[versions]]
        return result


def _present_masks(versions: pa.Table, context: RecordContext) -> dict[str, Mask]:
    """Return for each data column whose gaps are filled which versions have one; an entry more for a value that nobody brings."""
    result, fill_policy = {}, context.fill_policy
    assert fill_policy is not None
    for field in versions.schema:
        if field.name in context.schema.names and (mask := _missing_mask(versions.column(field.name), field, fill_policy)) is not None:
            result[field.name] = np.append(mask, fill_policy.is_missing(field.name, None))
    return result


def _missing_mask(column: pa.ChunkedArray, field: pa.Field, fill_policy: FillPolicy) -> Mask | None:
    if fill_policy.mode is PartialMode.FILL_UNAVAILABLE:
        if not (pt.is_string(field.type) or pt.is_binary(field.type)):
            return None
        marker = pa.scalar(fill_policy.marker, pa.string()).cast(field.type)
        return _mask(pc.equal(column, marker))
    default = dict(fill_policy.defaults).get(field.name)
    if default is None or pt.is_nested(field.type):
        return _mask(pc.is_null(column))
    return _mask(pc.equal(column, pa.scalar(default).cast(field.type)))


def _mask(column: pa.ChunkedArray) -> Mask:
    mask: Mask = pc.fill_null(column, False).to_numpy().astype(bool)
    return mask


def values_of(versions: pa.Table, sources: Mapping[str, Indices], targets: Indices, names: Sequence[str]) -> list[pa.ChunkedArray]:
    """Return columns of some targets, each value from the version that it comes from."""
    columns = []
    for name in names:
        chosen = sources[name][targets]
        columns.append(versions.column(name).take(pa.array(chosen, mask=chosen == _NOBODY)))
    return columns
