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
from tests.interop.reference import ReferenceHudi

Make = Callable[[ReferenceHudi, Path, dict[str, str]], None]

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
META_COLUMNS = {f"_hoodie_{name}" for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")}
# Rows of batch writes go to logs only for the statements that say so; compaction runs when a recipe asks for it.
QUIET = {"hoodie.compact.inline": "false", "hoodie.index.bloom.num_entries": "100", "hoodie.index.type": "SIMPLE"}
MERGE_ON_READ = QUIET | {
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
}
ORDERED = {"hoodie.datasource.write.precombine.field": "ts"}
ONCE = {"hoodie__compact__inline__max__delta__commits": "1"}
PARTIAL = {"hoodie__spark__sql__merge__into__partial__updates": "true"}
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


def statements(reference: ReferenceHudi, path: Path, table: Mapping[str, str], *strings: str, **more: str) -> pa.Table:
    """Runs SQL on the table at `path`, which `{t}` in a statement stands for."""
    name = table["hoodie.table.name"]
    known = f"CREATE TABLE IF NOT EXISTS {name} USING hudi LOCATION '{path}'"
    conf = {key: value for key, value in table.items() if not key.startswith("hoodie.table.")}
    conf |= {key.replace("__", "."): value for key, value in more.items()}
    return reference.sql(known, *(text.format(t=name) for text in strings), conf=conf)


def first_events(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, events(*((number, 10, number) for number in range(8))), "overwrite", table)


def operations(reference: ReferenceHudi, path: Path, table: dict[str, str], **settings: str) -> None:
    """Updates early, late and of equal ordering value; deletes of three kinds; keys that come back; new keys."""
    table = table | MERGE_ON_READ | ORDERED | {key.replace("__", "."): value for key, value in settings.items()}
    write = partial(reference.write, path, mode="append")
    first_events(reference, path, table)
    write(events((1, 20, 101), (2, 5, 102), (3, 10, 103)), options=table)
    statements(reference, path, table, "DELETE FROM {t} WHERE id = 'e4'")
    write(events((5, 30, 0)), options=table | DELETE)
    write(events((6, 40, 0), (7, 5, 0), deleted=True), options=table)
    write(events((1, 15, 201), (3, 11, 203), (4, 15, 204), (6, 35, 206), (5, 50, 205), (8, 1, 8)), options=table)
    statements(reference, path, table, "UPDATE {t} SET note = 'updated' WHERE id = 'e2'")
    write(events((0, 12, 300), (9, 1, 9), (8, 2, 308)), options=table)


def commit_time(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """The last write wins, whatever is in `ts`."""
    table = table | MERGE_ON_READ | {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 5, 102)), "append", table)
    reference.write(path, events((3, None, 103), (1, 1, 201)), "append", table)
    reference.write(path, events((4, 1, 0), (6, 1, 0), deleted=True), "append", table)
    reference.write(path, events((5, 1, 0)), "append", table | DELETE)
    reference.write(path, events((6, 1, 206), (7, 7, 207)), "append", table)


def revived(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A late record after a delete by commit time."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table)
    reference.write(path, events((1, 30, 0), (2, 30, 0)), "append", table | DELETE)
    reference.write(path, events((1, 5, 101)), "append", table)


def pending_compaction(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A compaction is planned; commits after it write to the slice that it will make."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    statements(reference, path, table, f"CALL run_compaction(op => 'schedule', path => '{path}')", **ONCE)
    reference.write(path, events((2, 15, 202), (3, 20, 203)), "append", table)
    reference.write(path, events((1, 30, 0), (5, 30, 0), deleted=True), "append", table)


def compacted(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """The same, and the compaction runs after one of those commits."""
    pending_compaction(reference, path, table)
    table = table | MERGE_ON_READ | ORDERED
    statements(reference, path, table, f"CALL run_compaction(op => 'run', path => '{path}')")
    reference.write(path, events((4, 20, 304), (2, 30, 302)), "append", table)


def log_compacted(reference: ReferenceHudi, path: Path, table: dict[str, str], then: int = 2) -> None:
    """Blocks of several commits were joined into one; commits came after."""
    table = table | MERGE_ON_READ | ORDERED
    joining = {
        "hoodie.log.compaction.enable": "true",
        "hoodie.log.compaction.inline": "true",
        "hoodie.log.compaction.blocks.threshold": "2",
        "hoodie.log.record.reader.use.optimized.scan": "true",
    }
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    reference.write(path, events((3, 20, 0), (5, 5, 0), deleted=True), "append", table)
    reference.write(path, events((1, 30, 201), (2, 5, 202)), "append", table | joining)
    for step in range(then):
        reference.write(path, events((7, 40 + step, 300 + step), (1, 35, 301)), "append", table)


def null_ordering(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Null is below all; Apache Hudi itself manages it for columns of type int alone."""
    table = table | MERGE_ON_READ | {"hoodie.datasource.write.precombine.field": "rank"}

    def ranked(*rows: tuple[str, int | None, str]) -> pa.Table:
        ids, ranks, notes = zip(*rows, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(rows), "rank": pa.array(ranks, pa.int32()), "note": notes}
        return pa.table(columns)

    reference.write(path, ranked(("a", 5, "a0"), ("b", 5, "b0"), ("c", None, "c0"), ("d", None, "d0")), "overwrite", table)
    reference.write(path, ranked(("a", None, "a1"), ("c", 1, "c1"), ("d", None, "d1")), "append", table)
    reference.write(path, ranked(("c", None, "c2"), ("b", 6, "b1")), "append", table)
    reference.write(path, ranked(("b", None, "b2")), "append", table)


def failed_commit(reference: ReferenceHudi, path: Path, table: dict[str, str], direct: bool = False) -> None:
    """A delta commit that died after its log files; the next write rolls it back."""
    table = table | MERGE_ON_READ | ORDERED
    table |= {"hoodie.write.markers.type": "DIRECT"} if direct else {}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101)), "append", table)
    fail_commit(reference, path, events((1, 30, 666), (2, 30, 666)), table)


def rolled_back(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    failed_commit(reference, path, table)
    reference.write(path, events((3, 20, 203), (2, 20, 202)), "append", table | MERGE_ON_READ | ORDERED)


def hfile_blocks(reference: ReferenceHudi, path: Path, table: dict[str, str], kind: str = "hfile") -> None:
    """Batch writes alone. Apache Hudi can't read what it wrote: what a table with Avro blocks says is expected."""
    table = table | MERGE_ON_READ | ORDERED | {"hoodie.logfile.data.block.format": kind}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 5, 102), (3, 10, 103)), "append", table)
    reference.write(path, events((6, 40, 0), (7, 5, 0), deleted=True), "append", table)
    reference.write(path, events((1, 15, 201), (3, 11, 203), (5, 20, 205)), "append", table)


def twin_of_hfile_blocks(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> pa.Table:
    """The rows, without meta columns, that the same writes give in Avro blocks."""
    name = f"{table['hoodie.table.name']}_twin"
    twin = reference.scratch / name
    hfile_blocks(reference, twin, table | {"hoodie.table.name": name}, "avro")
    rows = reference.read(twin)
    return rows.drop_columns([column for column in rows.column_names if column in META_COLUMNS])


def added_column(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Logs hold a column that base files and earlier logs lack."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    wider = events((2, 30, 202), (3, 20, 203), (5, 5, 205)).append_column("extra", pa.array(["x2", None, "x5"]))
    reference.write(path, wider, "append", table)


def widened_column(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """`n` was an int in the base files and the first logs, then a long."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    wide = events((2, 30, 0), (3, 20, 0)).set_column(3, "n", pa.array([2**40, 2**41], pa.int64()))
    reference.write(path, wide, "append", table)


def change_log(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Change data capture is on: files that end in `-cdc` lie beside log files."""
    table = table | MERGE_ON_READ | ORDERED | {"hoodie.table.cdc.enabled": "true"}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 5, 102)), "append", table)
    # New keys are packed into the base files, which are rewritten: that is what a change log is written for.
    reference.write(path, events((8, 1, 8), (9, 1, 9)), "append", table)
    statements(reference, path, table, f"CALL run_compaction(op => 'scheduleAndExecute', path => '{path}')", **ONCE)
    reference.write(path, events((3, 20, 203), (1, 30, 301)), "append", table)


def overwritten(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Groups with logs were replaced; the new groups have logs too."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    replaced = {"hoodie.datasource.write.operation": "insert_overwrite"}
    reference.write(path, events((2, 1, 202), (4, 1, 204)), "append", table | replaced)
    reference.write(path, events((4, 20, 304), (3, 20, 303)), "append", table)


def virtual_keys(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    table = table | MERGE_ON_READ | ORDERED | {"hoodie.populate.meta.fields": "false"}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 5, 102), (8, 1, 8)), "append", table)
    reference.write(path, events((3, 20, 0), (4, 20, 0), deleted=True), "append", table)


def log_only(reference: ReferenceHudi, path: Path, table: dict[str, str], **index: str) -> None:
    """An index that finds keys in logs: inserts make slices without a base file."""
    table = table | MERGE_ON_READ | ORDERED | {key.replace("__", "."): value for key, value in index.items()}
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 5, 102), (8, 1, 8)), "append", table)
    reference.write(path, events((3, 20, 0), (4, 20, 0), deleted=True), "append", table)


def archived(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Logs are in the latest slices whose delta commits are in the history."""
    keep = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    table = table | MERGE_ON_READ | ORDERED | keep
    first_events(reference, path, table)
    for step in range(8):
        reference.write(path, events((step, 20, 100 + step), (0, 20 + step, 200 + step)), "append", table)


def merge(key: str, city: str, ts: int, value: str, column: str) -> str:
    """The statement that sets one column, and the ordering field, of one key."""
    source = f"(SELECT '{key}' AS id, '{city}' AS city, {ts}L AS ts, {value} AS value)"
    return f"MERGE INTO {{t}} t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {column} = s.value, ts = s.ts"


def plain(*rows: tuple[int, int | None, int]) -> pa.Table:
    """Events without the column `_hoodie_is_deleted`, with which Apache Hudi can't read blocks of some columns."""
    return events(*rows).drop_columns(["_hoodie_is_deleted"])


def plain_events(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, plain(*((number, 10, number) for number in range(8))), "overwrite", table)


def partial_merge(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """MERGE INTO that sets some columns writes blocks with these columns alone."""
    table = table | MERGE_ON_READ | ORDERED
    plain_events(reference, path, table)
    for statement in (
        merge("e1", "lima", 20, "1001", "n"),
        merge("e2", "oslo", 20, "1002", "n"),
        merge("e3", "lima", 20, "CAST(NULL AS INT)", "n"),
        merge("e2", "oslo", 30, "2002", "n"),
        merge("e5", "lima", 10, "1005", "n"),
    ):
        statements(reference, path, table, statement, **PARTIAL)
    reference.write(path, plain((7, 50, 0)), "append", table | DELETE)


def partial_columns(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Blocks with different columns meet in one slice, and in one key."""
    table = table | MERGE_ON_READ | ORDERED
    plain_events(reference, path, table)
    statements(reference, path, table, merge("e1", "lima", 20, "1001", "n"), **PARTIAL)
    statements(reference, path, table, merge("e1", "lima", 30, "'merged'", "note"), **PARTIAL)
    statements(reference, path, table, merge("e3", "lima", 30, "CAST(NULL AS STRING)", "note"), **PARTIAL)


def full_before_partial(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    table = table | MERGE_ON_READ | ORDERED
    plain_events(reference, path, table)
    reference.write(path, plain((1, 20, 101), (3, 20, 103), (5, 20, 105)), "append", table)
    statements(reference, path, table, merge("e1", "lima", 30, "1001", "n"), **PARTIAL)
    statements(reference, path, table, merge("e7", "lima", 30, "1007", "n"), **PARTIAL)


def full_after_partial(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    table = table | MERGE_ON_READ | ORDERED
    plain_events(reference, path, table)
    statements(reference, path, table, merge("e1", "lima", 30, "1001", "n"), **PARTIAL)
    statements(reference, path, table, merge("e3", "lima", 30, "1003", "n"), **PARTIAL)
    reference.write(path, plain((1, 40, 201), (5, 20, 205), (7, 20, 207)), "append", table)
