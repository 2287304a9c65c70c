"""Reading a table without Spark: what `HudiTable.to_arrow`, `to_batches` and `count` do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import OptionError
from pyhudi.read.execute import Selection, count_rows, read_batches, read_table, select
from pyhudi.read.query import Mode, SnapshotQuery
from pyhudi.read.snapshot import open_snapshot
from pyhudi.storage.protocol import Storage


def selection(
    storage: Storage,
    columns: Sequence[str] | None,
    filter: str | pc.Expression | None,  # noqa: A002 - the public name
    as_of: str | datetime | None,
    mode: Mode,
    *,
    meta_columns: bool,
) -> Selection:
    """Return what the arguments of a read select.

    Raises:
        UsageError: a column, the filter, the time or the mode is wrong.
    """
    if mode not in ("snapshot", "read_optimized"):
        raise OptionError(f"mode is {mode!r}; it can be 'snapshot' or 'read_optimized'.")
    snapshot = open_snapshot(storage, SnapshotQuery(mode, as_of))
    return select(snapshot, columns, filter, meta_columns=meta_columns)


def to_arrow(selected: Selection) -> pa.Table:
    """Return all rows of a selection."""
    return read_table(selected)


def to_batches(selected: Selection) -> pa.RecordBatchReader:
    """Return the rows of a selection as a stream."""
    return read_batches(selected)


def count(selected: Selection) -> int:
    """Return the number of rows of a selection."""
    return count_rows(selected)
