"""Every state that a table ever had is read as replaying its writes in the order of their completion leaves it.

Tables that Apache Hudi wrote: with plans pending, archived, cleaned, compacted, clustered, upgraded, downgraded, restored. A time
whose files were cleaned is refused; nothing else is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError, UsageError
from tests.replay import Replay, Row, State, counted, rows_of
from tests.slow_cases import slow_cases
from tests.tables import LANCE, NAMES

#: What happened to their timelines differs from table to table; of the others one or two of a kind are read here.
LIVES = [
    *(
        f"apache_hudi/merge_on_read_{name}"
        for name in ("lagging_v6", "pending_clustering_v6", "upgraded_v8", "upgraded_v9", "downgraded_v6", "concurrent_v8", "concurrent_v9")
    ),
    *(f"apache_hudi/merge_on_read_{name}_v{version}" for name in ("pending_compaction", "compacted", "archived") for version in (6, 9)),
    *(
        f"apache_hudi/{name}"
        for name in ("cleaned_and_archived_v6", "cleaned_and_archived_v9", "restored_v9", "savepointed_v9", "expired_v9")
    ),
    *(
        f"apache_hudi/merge_on_read_{name}"
        for name in ("log_compacted_v8", "overwritten_v9", "rolled_back_v6", "change_log_v8", "partial_merge_v9")
    ),
    "apache_hudi/sql_operations_v8",
    "mor/avro/v9_txns_complex_meta",
]
#: Apache Hudi's log compaction gives the rows that it joins its own commit time.
RESTAMPED = "log_compacted"
#: No meta columns: nobody knows which commit wrote a row.
NO_CHANGES = ("virtual_keys", "no_metafields")
#: The partition column is in no file.
NOT_REPLAYED = {"apache_hudi/dropped_partition_column_v9"}
EVERY = sorted({*NAMES} - set(LANCE) - NOT_REPLAYED)
#: Change data is captured.
CAPTURED = [f"apache_hudi/{name}" for name in ("change_data_v9", "merge_on_read_change_data_v9", "merge_on_read_upgraded_v9")]
WITH_CHANGES = [name for name in EVERY if RESTAMPED not in name and not any(text in name for text in NO_CHANGES)]
COMMIT_TIME = "_hoodie_commit_time"


def states_of(path: Path) -> list[State]:
    return list(Replay(path).states())


def compared(name: str, table: HudiTable) -> list[str]:
    return [*table.schema.names, *(() if RESTAMPED in name or any(text in name for text in NO_CHANGES) else (COMMIT_TIME,))]


def read(path: Path, rows: Callable[[], pa.Table]) -> list[Row] | None:
    """The rows as of a time; None when it is refused because files of it were cleaned."""
    try:
        return rows_of(rows())
    except UsageError as refused:
        if "deleted files of that time" not in str(refused) or not any(path.rglob("*.clean")):
            raise
        return None


def same(result: list[Row] | None, expected: list[Row] | None, columns: list[str]) -> bool:
    """Tell whether both are the same rows in the columns that were there then, where both are known."""
    if result is None or expected is None:
        return True
    there = [column for column in columns if not result or column in result[0]]
    return counted(result, there) == counted(expected, there)


@pytest.mark.parametrize("name", slow_cases(EVERY, set(EVERY) - set(LIVES)))
def test_every_state_is_read_as_its_writes_left_it(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    table, states = HudiTable.open(path), states_of(path)
    columns = compared(name, table)
    for state in states:
        rows = read(path, lambda time=state.time: table.to_arrow(as_of=time, meta_columns=True))  # type: ignore[misc]
        assert same(rows, state.rows, columns), state.instant
    if states:
        assert same(read(path, lambda: table.to_arrow(meta_columns=True)), states[-1].rows, columns)


@pytest.mark.parametrize("name", slow_cases(WITH_CHANGES, set(WITH_CHANGES) - set(LIVES)))
def test_changes_since_the_beginning_are_what_stands_and_those_between_are_the_rows_of_the_writes_between(
    name: str, fixture_table: Callable[[str], Path]
) -> None:
    path = fixture_table(name)
    table, states = HudiTable.open(path), states_of(path)
    columns = table.schema.names
    for state in states:
        rows = read(path, lambda time=state.time: table.changes(until=time))  # type: ignore[misc]
        assert same(rows, state.rows, columns), state.instant
    for before, after in pairwise(states):
        written = [row for row in after.rows or () if row[COMMIT_TIME] == after.instant.requested]
        try:
            rows = read(path, lambda since=before.time, until=after.time: table.changes(since, until))  # type: ignore[misc]
        except UnsupportedError as refused:
            if "version 6 does not tell" not in str(refused):
                raise
            continue
        assert same(rows, None if after.rows is None else written, columns), after.instant


@pytest.mark.parametrize("name", CAPTURED)
def test_change_data_is_what_each_write_changed(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    table, states = HudiTable.open(path), states_of(path)
    for before, after in pairwise([State(states[0].instant, "", []), *states]):
        rows = table.changes(before.time or None, after.time, format="cdc").to_pylist()
        events = Counter((event["op"], *(_image(event[side]) for side in ("before", "after"))) for event in rows)
        assert events == _differences(before.rows or [], after.rows or []), after.instant


def _image(text: str | None) -> str | None:
    image = None if text is None else json.loads(text)
    return None if image is None else str((image["id"], image["ts"], image["n"]))


def _differences(before: list[Row], after: list[Row]) -> Counter[tuple[str, str | None, str | None]]:
    """What became of each record: its version is told by the commit that wrote it."""
    was, now = ({row["id"]: row for row in rows} for rows in (before, after))
    counts: Counter[tuple[str, str | None, str | None]] = Counter()
    for key in was.keys() | now.keys():
        old, new = (None if row is None else str((row["id"], row["ts"], row["n"])) for row in (was.get(key), now.get(key)))
        if key not in was or key not in now or was[key][COMMIT_TIME] != now[key][COMMIT_TIME]:
            counts["i" if key not in was else "d" if key not in now else "u", old, new] += 1
    return counts
