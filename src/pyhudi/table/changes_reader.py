"""What `HudiTable.changes` reads."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.read.execute import read_table, select
from pyhudi.read.incremental.cdc_query import open_change_data
from pyhudi.read.incremental.incremental import ChangesQuery, open_changes
from pyhudi.storage.storage_protocol import Storage

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
