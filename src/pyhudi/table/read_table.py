"""What `HudiTable.to_arrow`, `to_batches` and `count` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow.compute as pc

from pyhudi.errors import OptionError
from pyhudi.read.execute import Selection, select
from pyhudi.read.snapshot.query_type import AS_OF, QUERY_TYPE, Mode, snapshot_query
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.options import merge_options, resolve
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.storage.storage_protocol import Storage


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
    for name, argument in ((QUERY_TYPE, "mode"), (AS_OF, "as_of")):
        if resolve(options or {}).get(name) is not None:
            raise OptionError(f"{name} is the argument {argument} here: leave it out of the options.")
    chosen = snapshot_query(resolve(merge_options(default_write_options(), options or {})))
    query = replace(chosen, mode=mode, as_of=as_of)
    snapshot = open_snapshot(storage, query)
    return select(snapshot, columns, filter, meta_columns=meta_columns)
