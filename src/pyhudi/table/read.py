"""What `HudiTable.to_arrow`, `to_batches` and `count` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow.compute as pc

from pyhudi.errors import OptionError
from pyhudi.read.execute import Selection, select
from pyhudi.read.query import Mode, SnapshotQuery
from pyhudi.read.snapshot import open_snapshot
from pyhudi.spec.options import resolve
from pyhudi.storage.protocol import Storage


def selection(
    storage: Storage,
    columns: Sequence[str] | None,
    filter: str | pc.Expression | None,  # noqa: A002 - the public name
    as_of: str | datetime | None,
    mode: Mode,
    *,
    meta_columns: bool,
    options: Mapping[str, str] | None = None,
) -> Selection:
    """Return what the arguments of a read select.

    Raises:
        UsageError: a column, the filter, the time or the mode is wrong.
    """
    if mode not in ("snapshot", "read_optimized"):
        raise OptionError(f"mode is {mode!r}; it can be 'snapshot' or 'read_optimized'.")
    chosen = resolve(options or {})
    query = SnapshotQuery(
        mode,
        as_of,
        chosen.flag("hoodie.metadata.enable"),
        chosen.flag("hoodie.enable.data.skipping"),
        chosen.integer("hoodie.memory.merge.max.size"),
    )
    snapshot = open_snapshot(storage, query)
    return select(snapshot, columns, filter, meta_columns=meta_columns)
