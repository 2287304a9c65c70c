"""How the merge-on-read fixtures are made: every kind of log block, merge rule and table service of Apache Hudi.

The rows are few and the bloom filters small, so that a zip has some kilobytes. No recipe lets a record come late after a
delete by commit time, where Apache Hudi brings back the base file's row, except `revived`, which is about that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa

from tests.interop.failing import fail_commit
from tests.interop.judge import Judge

Make = Callable[[Judge, Path, dict[str, str]], None]

EVENTS = pa.schema(
    [
        ("id", pa.string()),
        ("city", pa.string()),
        ("ts", pa.int64()),
        ("n", pa.int32()),
        ("note", pa.string()),
        ("_hoodie_is_deleted", pa.bool_()),
    ]
)
# Rows of batch writes go to logs only for the statements that say so; compaction runs when a recipe asks for it.
QUIET = {"hoodie.compact.inline": "false", "hoodie.index.bloom.num_entries": "100", "hoodie.index.type": "SIMPLE"}
MERGE_ON_READ = QUIET | {
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
}
ORDERED = {"hoodie.datasource.write.precombine.field": "ts"}
DELETE = {"hoodie.datasource.write.operation": "delete"}
INSERT = {"hoodie.datasource.write.operation": "insert"}


def events(*rows: tuple[int, int | None, int], deleted: bool = False) -> pa.Table:
    """Rows of (number, ts, n); even numbers live in oslo, odd ones in lima."""
    columns = [
        [f"e{number}" for number, _, _ in rows],
        ["lima" if number % 2 else "oslo" for number, _, _ in rows],
        [ts for _, ts, _ in rows],
        [n for _, _, n in rows],
        [f"note {n}" for _, _, n in rows],
        [deleted] * len(rows),
    ]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, EVENTS, strict=True)], schema=EVENTS)


def statements(judge: Judge, path: Path, table: Mapping[str, str], *texts: str, **more: str) -> pa.Table:
    """Runs SQL on the table at `path`, which `{t}` in a statement stands for."""
    name = table["hoodie.table.name"]
    known = f"CREATE TABLE IF NOT EXISTS {name} USING hudi LOCATION '{path}'"
    conf = {key: value for key, value in table.items() if not key.startswith("hoodie.table.")}
    conf |= {key.replace("__", "."): value for key, value in more.items()}
    return judge.sql(known, *(text.format(t=name) for text in texts), conf=conf)


def first_events(judge: Judge, path: Path, table: dict[str, str]) -> None:
    judge.write(path, events(*((number, 10, number) for number in range(8))), "overwrite", table)


def operations(judge: Judge, path: Path, table: dict[str, str], **settings: str) -> None:
    """Updates early, late and of equal ordering value; deletes of three kinds; keys that come back; new keys."""
    table = table | MERGE_ON_READ | ORDERED | {key.replace("__", "."): value for key, value in settings.items()}
    write = partial(judge.write, path, mode="append")
    first_events(judge, path, table)
    write(events((1, 20, 101), (2, 5, 102), (3, 10, 103)), options=table)
    statements(judge, path, table, "DELETE FROM {t} WHERE id = 'e4'")
    write(events((5, 30, 0)), options=table | DELETE)
    write(events((6, 40, 0), (7, 5, 0), deleted=True), options=table)
    write(events((1, 15, 201), (3, 11, 203), (4, 15, 204), (6, 35, 206), (5, 50, 205), (8, 1, 8)), options=table)
    statements(judge, path, table, "UPDATE {t} SET note = 'updated' WHERE id = 'e2'")
    write(events((0, 12, 300), (9, 1, 9), (8, 2, 308)), options=table)


def commit_time(judge: Judge, path: Path, table: dict[str, str]) -> None:
    """The last write wins, whatever stands in `ts`."""
    table = table | MERGE_ON_READ | {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
    first_events(judge, path, table)
    judge.write(path, events((1, 20, 101), (2, 5, 102)), "append", table)
    judge.write(path, events((3, None, 103), (1, 1, 201)), "append", table)
    judge.write(path, events((4, 1, 0), (6, 1, 0), deleted=True), "append", table)
    judge.write(path, events((5, 1, 0)), "append", table | DELETE)
    judge.write(path, events((6, 1, 206), (7, 7, 207)), "append", table)


def revived(judge: Judge, path: Path, table: dict[str, str]) -> None:
    """A late record after a delete by commit time."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(judge, path, table)
    judge.write(path, events((1, 30, 0), (2, 30, 0)), "append", table | DELETE)
    judge.write(path, events((1, 5, 101)), "append", table)


def pending_compaction(judge: Judge, path: Path, table: dict[str, str]) -> None:
    """A compaction is planned; commits after it write to the slice that it will make."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(judge, path, table)
    judge.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    once = {"hoodie__compact__inline__max__delta__commits": "1"}
    statements(judge, path, table, f"CALL run_compaction(op => 'schedule', path => '{path}')", **once)
    judge.write(path, events((2, 15, 202), (3, 20, 203)), "append", table)
    judge.write(path, events((1, 30, 0), (5, 30, 0), deleted=True), "append", table)


def compacted(judge: Judge, path: Path, table: dict[str, str]) -> None:
    """The same, and the compaction runs after one of those commits."""
    pending_compaction(judge, path, table)
    table = table | MERGE_ON_READ | ORDERED
    statements(judge, path, table, f"CALL run_compaction(op => 'run', path => '{path}')")
    judge.write(path, events((4, 20, 304), (2, 30, 302)), "append", table)


def log_compacted(judge: Judge, path: Path, table: dict[str, str], then: int = 2) -> None:
    """Blocks of several commits were joined into one; commits came after."""
    table = table | MERGE_ON_READ | ORDERED
    joining = {
        "hoodie.log.compaction.enable": "true",
        "hoodie.log.compaction.inline": "true",
        "hoodie.log.compaction.blocks.threshold": "2",
        "hoodie.log.record.reader.use.optimized.scan": "true",
    }
    first_events(judge, path, table)
    judge.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    judge.write(path, events((3, 20, 0), (5, 5, 0), deleted=True), "append", table)
    judge.write(path, events((1, 30, 201), (2, 5, 202)), "append", table | joining)
    for step in range(then):
        judge.write(path, events((7, 40 + step, 300 + step), (1, 35, 301)), "append", table)


def null_ordering(judge: Judge, path: Path, table: dict[str, str]) -> None:
    table = table | MERGE_ON_READ | ORDERED
    first_events(judge, path, table)
    judge.write(path, events((1, None, 101), (8, None, 8)), "append", table)
    judge.write(path, events((8, 1, 108), (3, 20, 103)), "append", table)
    judge.write(path, events((3, None, 203)), "append", table)


def failed_commit(judge: Judge, path: Path, table: dict[str, str], direct: bool = False) -> None:
    """A delta commit that died after its log files; the next write rolls it back."""
    table = table | MERGE_ON_READ | ORDERED
    table |= {"hoodie.write.markers.type": "DIRECT"} if direct else {}
    first_events(judge, path, table)
    judge.write(path, events((1, 20, 101)), "append", table)
    fail_commit(judge, path, events((1, 30, 666), (2, 30, 666)), table)


def rolled_back(judge: Judge, path: Path, table: dict[str, str]) -> None:
    failed_commit(judge, path, table)
    judge.write(path, events((3, 20, 203), (2, 20, 202)), "append", table | MERGE_ON_READ | ORDERED)
