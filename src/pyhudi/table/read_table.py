"""What `HudiTable.to_arrow`, `to_batches`, `count` and `changes` read."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

import pyarrow as pa

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.read.execute import Selection, narrow, read_table, select
from pyhudi.read.filter.tuple_filter import FilterLike
from pyhudi.read.incremental.cdc_query import open_change_data
from pyhudi.read.incremental.changes_options import BEGIN, END, FORMAT, changes_query, is_incremental
from pyhudi.read.incremental.incremental import SCHEMA_AT_END, open_changes
from pyhudi.read.read_kinds import ReadKind, refuse_without_effect
from pyhudi.read.snapshot.find_table import BASE_PATH, PATHS, check_base_path, scope_of
from pyhudi.read.snapshot.query_type import AS_OF, PATH_VALUES, QUERY_TYPE, QueryType, snapshot_query
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.options import merge_options, resolve
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.storage.storage_protocol import Storage

_ARGUMENTS_OF_CHANGES: Final = {BEGIN: "since", END: "until", FORMAT: "format", SCHEMA_AT_END: "schema_at_end"}


def selection(
    storage: Storage,
    columns: Sequence[str] | None,
    filter: FilterLike | None,  # noqa: A002 - the public name
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
    stated = resolve(options or {})
    for name, argument in ((QUERY_TYPE, "mode"), (AS_OF, "as_of")):
        if stated.get(name) is not None:
            raise OptionError(f"{name} is the argument {argument} here: leave it out of the options.")
    refuse_without_effect(stated, ReadKind.STATE)
    given = resolve(merge_options(default_write_options(), options or {}))
    check_base_path(given.get(BASE_PATH), storage.uri)
    query = replace(snapshot_query(given), mode=mode, as_of=as_of, scope=scope_of(storage, given.get(PATHS)))
    snapshot = open_snapshot(storage, query)
    if query.takes_path_values and _has_formatted_times(snapshot.config):
        raise UnsupportedError(
            f"{PATH_VALUES}: paths of table {storage.uri} hold times as strings, for columns of another type. Read it through Spark, or"
            " leave the option out."
        )
    return select(snapshot, columns, filter, meta_columns=meta_columns)


def _has_formatted_times(config: TableConfig) -> bool:
    """Tell whether a partition column's value is formatted by a timestamp-based key generator."""
    return config.key_generator.family is KeyGeneratorType.TIMESTAMP or "TIMESTAMP" in config.partition_field_types


ChangesFormat: TypeAlias = Literal["latest_state", "cdc"]


def changes(
    storage: Storage,
    since: str | datetime | None,
    until: str | datetime | None,
    format_: ChangesFormat,
    *,
    meta_columns: bool,
    schema_at_end: bool,
    options: Mapping[str, str] | None = None,
) -> pa.Table:
    """Return the rows that a span of commits wrote; arguments and errors as in `HudiTable.changes`."""
    if format_ not in ("latest_state", "cdc"):
        raise OptionError(f"format is {format_!r}; it can be 'latest_state' or 'cdc'.")
    stated = resolve(options or {})
    for name, argument in _ARGUMENTS_OF_CHANGES.items():
        if stated.get(name) is not None:
            raise OptionError(f"{name} is the argument {argument} here: leave it out of the options.")
    if stated.get(QUERY_TYPE) is not None and not is_incremental(stated):
        raise OptionError(f"{QUERY_TYPE}={stated.get(QUERY_TYPE)}: changes() is an incremental read. Leave it out, or call to_arrow().")
    given = resolve({**merge_options(default_write_options(), options or {}), FORMAT: format_})
    check_base_path(given.get(BASE_PATH), storage.uri)
    query = replace(
        changes_query(given, needs_begin=False),
        since=since,
        until=until,
        schema_at_end=schema_at_end,
        scope=scope_of(storage, given.get(PATHS)),
    )
    refuse_without_effect(stated, ReadKind.CHANGE_DATA if format_ == "cdc" else ReadKind.CHANGES)
    if format_ == "cdc":
        if meta_columns or query.scope is not None:
            raise OptionError(f"change data has no meta columns, and comes from all partitions: leave out meta_columns and {PATHS}.")
        return open_change_data(storage, query).to_arrow()
    selection = select(open_changes(storage, query), meta_columns=meta_columns)
    return read_table(functools.reduce(lambda one, text: narrow(one, filter=text), query.filters, selection))
