"""Merging by a merger of the table's owner: record by record, as `pyhudi.merge.apply_rule` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.log_file.log_rows import LogRows
from pyhudi.kernels.merge.partial_merge import MergeOutcome, Targets
from pyhudi.merge.apply_rule import ABSENT, apply_incoming
from pyhudi.merge.merge_rules import RecordVersion
from pyhudi.schema.field_paths import head_column
from pyhudi.schema.meta_columns import COMMIT_SEQNO
from pyhudi.spec.files.log_block import LogBlock


def fold_records(
    context: RecordContext, log: LogRows, blocks: Sequence[LogBlock], versions: pa.Table, targets: Targets
) -> tuple[MergeOutcome, list[dict[str, Any]]]:
    """Apply the versions of the logs to their targets; returns the record of each target, too.

    Arguments as in `pyhudi.kernels.merge.partial_merge.merge_versions`; `blocks` are those that the logs' rows come from, none for rows
    that no log
    holds yet.
    """
    records = versions.to_pylist(maps_as_pydicts="strict")
    count = len(targets.start)
    changed, removed, reinserted = (np.zeros(count, bool) for _ in range(3))
    state: list[RecordVersion | None] = [
        RecordVersion(records[start], _ordering(context, records[start], None)) if start >= 0 else None for start in targets.start
    ]
    before: dict[int, int] = {}
    for indices, numbers in targets.rounds:
        for index, number in zip(indices.tolist(), numbers.tolist(), strict=True):
            if _repeats(log, blocks, records, before.get(index), number):
                continue
            before[index] = number
            stored = state[index]
            merged = apply_incoming(
                stored, _version(context, log, records[number], number), context.merge_mode, context.fill_policy, context.merger
            )
            changed[index] |= merged is not stored
            removed[index] |= stored is not None and stored.by_commit_time
            reinserted[index] |= removed[index] and not merged.deletes
            state[index] = merged
    deleted = np.array([merged is None or merged.deletes for merged in state], bool)
    return MergeOutcome(changed, deleted, reinserted), [{} if merged is None else dict(merged.record) for merged in state]


def _version(context: RecordContext, log: LogRows, record: dict[str, Any], number: int) -> RecordVersion:
    present = log.present_columns[log.block[number]]
    deletes, hard = bool(log.deletes[number]), bool(log.commit_time_deletes[number])
    return RecordVersion(record, _ordering(context, record, present), deletes, hard, present)


def _ordering(context: RecordContext, record: dict[str, Any], present_columns: frozenset[str] | None) -> tuple[Any, ...]:
    return tuple(
        _value_at(record, name) if present_columns is None or head_column(name) in present_columns else ABSENT
        for name in context.compared_fields
    )


def _value_at(record: Mapping[str, Any], name: str) -> Any:
    """The value of an ordering field, which may be inside structs."""
    value: Any = record
    for part in name.split("."):
        value = None if value is None else value[part]
    return value


def _repeats(log: LogRows, blocks: Sequence[LogBlock], records: list[dict[str, Any]], before: int | None, number: int) -> bool:
    """Tell whether a version is the one before once more, written by another attempt at the same task."""
    if before is None or not blocks:
        return False
    old, new = (blocks[log.block[index]].header for index in (before, number))
    if old.instant != new.instant or old.attempt is None or new.attempt is None or old.attempt == new.attempt:
        return False
    one, other = ({name: value for name, value in records[index].items() if name != COMMIT_SEQNO} for index in (before, number))
    return one == other
