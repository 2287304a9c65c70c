"""Finds keys by the key columns of base files, where key ranges and bloom filters do not rule them out, and in logs that begin records.

Rules: `HoodieSimpleIndex`, `HoodieBloomIndex` (`HoodieKeyLookupHandle`). The two differ in what they ask before they read.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.index_protocol import Hits, KeyLookup, LookupContext
from pyhudi.index.log_inserts import LogInsertDetector, keys_in_logs, logs_of
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.keys.key_probe import RANGES, SEVERAL, Precheck, find_keys
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class KeyScan:
    """Reads key columns; `precheck` says what of a base file's footer is asked first."""

    precheck: Precheck = RANGES

    def locate(
        self, key_lookups: Sequence[KeyLookup], lookup: LookupContext, ruled_out: Collection[tuple[int, BaseFile]] = ()
    ) -> list[list[Hits]]:
        """Return, for each question, the slices that hold some of its keys; `ruled_out` are base files not to be asked, by question."""
        view, origins = lookup.view, LogInsertDetector(lookup.view)
        scans = [
            (number, file_slice)
            for number, one in enumerate(key_lookups)
            for path in one.paths(view)
            for file_slice in view.latest_slices(path)
        ]
        tasks = [
            _Task(
                None if (number, file_slice.base) in ruled_out else file_slice.base,
                logs_of(file_slice, view) if origins.may_begin_records(file_slice) else None,
                key_lookups[number].keys,
            )
            for number, file_slice in scans
        ]
        result: list[list[Hits]] = [[] for _ in key_lookups]
        rows = lookup.engine.run(functools.partial(_rows_of, lookup.storage, lookup.context, self.precheck), tasks)
        for (number, file_slice), indices in zip(scans, rows, strict=True):
            if indices.null_count < len(indices):
                result[number].append(Hits(file_slice, indices))
        return result


@dataclass(frozen=True, slots=True)
class _Task:
    """Look for `keys` in a base file, and in logs that may begin records."""

    base: BaseFile | None
    logs: SliceTask | None
    keys: pa.StringArray


def _rows_of(storage: Storage, context: RecordContext, precheck: Precheck, task: _Task) -> pa.Int64Array:
    """Return the row of the base file for each key: `SEVERAL` for one that a log holds alone."""
    rows = (
        pa.nulls(len(task.keys), pa.int64())
        if task.base is None
        else find_keys(storage, task.base, task.keys, precheck, context.virtual_key)
    )
    if task.logs is None or not rows.null_count:
        return rows
    born = keys_in_logs(storage, context, task.logs, task.keys.filter(rows.is_null()))
    return pc.if_else(pc.and_(rows.is_null(), pc.is_in(task.keys, value_set=born)), pa.scalar(SEVERAL, pa.int64()), rows)
