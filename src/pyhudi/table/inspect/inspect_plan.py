"""Which files a filtered read opens, and what rules the others out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

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


def plan(storage: Storage, filter: str | pc.Expression | None, options: Mapping[str, str] | None = None) -> pa.Table:  # noqa: A002
    """Return one row a file of the current state; see `Inspect.plan`."""
    found = selection(storage, None, filter, None, "snapshot", meta_columns=False, options=options).explained()
    return pa.Table.from_pylist([row for piece, reason in found for row in _rows(piece, reason)], schema=_PLAN)


def _rows(piece: FileSlice, reason: str | None) -> Iterator[dict[str, object]]:
    base: list[BaseFile | LogFile] = [] if piece.base is None else [piece.base]
    for file in (*base, *piece.logs):
        yield {
            "path": file.path,
            "partition_path": piece.group.partition_path,
            "file_id": piece.group.file_id,
            "kind": "base" if isinstance(file, BaseFile) else "log",
            "bytes": file.size,
            "read": reason is None,
            "ruled_out_by": reason,
        }
