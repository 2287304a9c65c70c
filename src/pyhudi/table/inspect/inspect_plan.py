"""Which files a filtered read opens, and what rules the others out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from pyhudi.read.filter.tuple_filter import FilterLike
from pyhudi.spec.files.file_group import BaseFile, FileSlice, LogFile
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.read_table import selection

_PLAN = pa.schema(
    {
        "path": pa.string(),
        "partition_path": pa.string(),
        "file_id": pa.string(),
        "kind": pa.string(),
        "bytes": pa.int64(),
        "read": pa.bool_(),
        "ruled_out_by": pa.string(),
    }
)


def plan(storage: Storage, filter: FilterLike | None, options: Mapping[str, str] | None = None) -> pa.Table:  # noqa: A002
    """Return one row a file of the current state; see `Inspect.plan`."""
    slices = selection(storage, None, filter, None, "snapshot", meta_columns=False, options=options).explain_pruning()
    return pa.Table.from_pylist([row for file_slice, reason in slices for row in _rows(file_slice, reason)], schema=_PLAN)


def _rows(file_slice: FileSlice, reason: str | None) -> Iterator[dict[str, object]]:
    base: list[BaseFile | LogFile] = [] if file_slice.base is None else [file_slice.base]
    for file in (*base, *file_slice.logs):
        yield {
            "path": file.path,
            "partition_path": file_slice.group.partition_path,
            "file_id": file_slice.group.file_id,
            "kind": "base" if isinstance(file, BaseFile) else "log",
            "bytes": file.size,
            "read": reason is None,
            "ruled_out_by": reason,
        }
