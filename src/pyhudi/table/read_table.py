"""What `HudiTable.to_arrow`, `to_batches`, `count` and `changes` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import OptionError
from pyhudi.read.execute import Selection, read_table, select
from pyhudi.read.incremental.cdc_query import open_change_data
from pyhudi.read.incremental.incremental import ChangesQuery, open_changes
from pyhudi.read.snapshot.query_type import AS_OF, QUERY_TYPE, QueryType, snapshot_query
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.options import merge_options, resolve
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.storage.storage_protocol import Storage


def selection(
    storage: Storage,
    columns: Sequence[str] | None,
    filter: str | pc.Expression | None,  # noqa: A002 - the public name
    as_of: str | datetime | None,
    mode: QueryType,
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


ChangesFormat: TypeAlias = Literal["latest_state", "cdc"]


def changes(
    storage: Storage,
    since: str | datetime | None,
    until: str | datetime | None,
    format_: ChangesFormat,
    *,
    meta_columns: bool,
    schema_at_end: bool,
) -> pa.Table:
    """Return the rows that a span of commits wrote; arguments and errors as in `HudiTable.changes`."""
    query = ChangesQuery(since, until, schema_at_end=schema_at_end)
    if format_ == "cdc":
        if meta_columns:
            raise OptionError("change data has no meta columns: leave meta_columns out.")
        return open_change_data(storage, query).to_arrow()
    if format_ != "latest_state":
        raise OptionError(f"format is {format_!r}; it can be 'latest_state' or 'cdc'.")
    return read_table(select(open_changes(storage, query), meta_columns=meta_columns))
