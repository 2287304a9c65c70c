"""The options of incremental reads.

Rules: `DataSourceReadOptions`, names and values of `hoodie.datasource.read.*`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.read.incremental.incremental import SCHEMA_AT_END, ChangesQuery
from pyhudi.read.incremental.instant_range import FULL_SCAN, HOLES, HolesPolicy
from pyhudi.read.snapshot.query_type import AS_OF, MERGE_TYPE, PATH_VALUES, QUERY_TYPE, snapshot_query
from pyhudi.spec.options import Options

BEGIN: Final = "hoodie.datasource.read.begin.instanttime"
END: Final = "hoodie.datasource.read.end.instanttime"
FORMAT: Final = "hoodie.datasource.query.incremental.format"
PATH_GLOB: Final = "hoodie.datasource.read.incr.path.glob"
FILTERS: Final = "hoodie.datasource.read.incr.filters"
TIMES_OF_VERSION: Final = "hoodie.datasource.read.incr.table.version"


def is_incremental(options: Options) -> bool:
    """Tell whether options ask for changes, and not for a state of the table."""
    return options.text(QUERY_TYPE).strip().lower() == "incremental"


def changes_query(options: Options, *, needs_begin: bool = True) -> ChangesQuery:
    """Return the query of an incremental read.

    Args:
        options: what the caller gave.
        needs_begin: whether options without a begin are refused; otherwise the span begins with the table.

    Raises:
        OptionError: the options contradict each other, or the begin is missing.
    """
    snapshot = snapshot_query(options)
    change_data = options.text(FORMAT).strip().lower() == "cdc"
    if options.get(AS_OF) is not None:
        raise OptionError(f"{AS_OF} is for snapshots; an incremental read ends at {END}.")
    for name, is_given in ((MERGE_TYPE, not snapshot.merges_logs), (PATH_VALUES, snapshot.takes_path_values)):
        if is_given:
            raise OptionError(f"{name} is for snapshots: leave it out of an incremental read.")
    for name in (PATH_GLOB, FILTERS):
        if change_data and options.get(name) is not None:
            raise OptionError(f"{name} is for {FORMAT}=latest_state: leave it out, and filter the change data.")
    since = options.get(BEGIN)
    if since is None and needs_begin:
        raise OptionError(f"an incremental read needs {BEGIN}: an instant, a date or time, or 'earliest'.")
    return ChangesQuery(
        since,
        options.get(END),
        may_scan=options.flag(FULL_SCAN),
        reading=replace(snapshot, mode="snapshot", as_of=None),
        by_requested=goes_by_requested(options, TIMES_OF_VERSION),
        change_data=change_data,
        schema_at_end=options.flag(SCHEMA_AT_END),
        file_glob=options.get(PATH_GLOB),
        filters=split_filters(options.text(FILTERS)),
        holes=holes_policy(options),
    )


def holes_policy(options: Options) -> HolesPolicy:
    """Return what options say of writes that are pending among completed ones."""
    return HolesPolicy(options.text(HOLES).strip().upper())


def goes_by_requested(options: Options, name: str) -> bool | None:
    """Tell whether times are requested times, as an option with a table version says; None where that is left to the table."""
    version = options.get(name)
    return None if version is None else version.strip() == "6"


def split_filters(text: str) -> tuple[str, ...]:
    """Return the filters of a list with commas; a comma in brackets or quotes belongs to its filter.

    Example:
        >>> split_filters("id IN (1, 2), name = 'a,b'")
        ('id IN (1, 2)', "name = 'a,b'")
    """
    result, begin, depth, quote = [], 0, 0, ""
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "," and depth == 0:
            result.append(text[begin:position])
            begin = position + 1
    return tuple(stripped for one in (*result, text[begin:]) if (stripped := one.strip()))
