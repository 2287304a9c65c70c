"""How the fixtures are made whose timeline went through more than writes: lagging archival, upgrades, downgrades, pending plans, expiry."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.interop.failing import fail_commit
from tests.interop.merge_on_read_recipes import DELETE, MERGE_ON_READ, ONCE, ORDERED, events, first_events, statements
from tests.interop.reference import ReferenceHudi

KEEP_TWO: Final = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
KEEP_ALL: Final = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
#: So many days are 1,024 milliseconds in the 32 bits in which Apache Hudi computes them.
EXPIRE_AT_ONCE: Final = pow(84375, -1, 1 << 22)
VERSIONS: Final = {6: "SIX", 8: "EIGHT", 9: "NINE"}


def lagging(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A rollback and a clean stay active while delta commits after them are archived."""
    table = table | MERGE_ON_READ | ORDERED
    first_events(reference, path, table | KEEP_ALL)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table | KEEP_ALL)
    fail_commit(reference, path, events((1, 30, 666)), table | KEEP_ALL)
    compact = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    reference.write(path, events((3, 20, 103)), "append", table | KEEP_ALL | compact)
    reference.write(path, events((4, 20, 104)), "append", table | KEEP_TWO)
    for step in range(6):
        reference.write(path, events((step, 30, 200 + step), (20 + step, 1, step)), "append", table | KEEP_TWO)


def with_history(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Base files, logs of several delta commits with updates and deletes, and nothing cleaned."""
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101), (2, 20, 102)), "append", table)
    reference.write(path, events((1, 25, 201), (3, 20, 203)), "append", table)
    reference.write(path, events((5, 30, 0)), "append", table | DELETE)


def migrated(reference: ReferenceHudi, path: Path, table: dict[str, str], call: str, to: int, **more: str) -> None:
    """A table with history is moved to another version, and written on."""
    table = table | MERGE_ON_READ | ORDERED | KEEP_ALL | {key.replace("__", "."): value for key, value in more.items()}
    with_history(reference, path, table)
    statements(reference, path, table, f"CALL {call}(table => '{{t}}', to_version => '{VERSIONS[to]}')")
    table |= {"hoodie.write.table.version": str(to)}
    reference.write(path, events((2, 40, 402), (4, 20, 304)), "append", table)
    reference.write(path, events((6, 40, 406), (1, 50, 501)), "append", table)


def pending_clustering(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A clustering is planned; commits follow in other partitions."""
    table = table | MERGE_ON_READ | ORDERED | KEEP_ALL
    first_events(reference, path, table)
    reference.write(path, events((1, 20, 101)), "append", table)
    plan = f"CALL run_clustering(path => '{path}', op => 'schedule', predicate => \"city = 'oslo'\")"
    statements(reference, path, table, plan)
    reference.write(path, events((3, 20, 103), (1, 30, 301)), "append", table)
    reference.write(path, events((5, 30, 0)), "append", table | DELETE)


def expired(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Partitions that were dropped for their age, in a replace commit that Apache Hudi completes twice."""
    table = table | MERGE_ON_READ | {"hoodie.datasource.write.table.type": "COPY_ON_WRITE"} | KEEP_ALL
    reference.write(path, events((0, 10, 0), (2, 10, 2)), "overwrite", table)
    statements(reference, path, table, "SELECT java_method('java.lang.Thread', 'sleep', 3000L)")
    reference.write(path, events((1, 10, 1)), "append", table)
    statements(reference, path, table, f"CALL run_ttl(table => '{{t}}', retain_days => {EXPIRE_AT_ONCE})")
    reference.write(path, events((3, 10, 3)), "append", table)


def concurrent(reference: ReferenceHudi, path: Path, table: dict[str, str], compacts: bool = True, **more: str) -> None:
    """Writers beside one another whose commits complete in another order than they began, a compaction between them or not."""
    together = {
        "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
        "hoodie.clean.failed.writes.policy": "LAZY",
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.index.type": "BUCKET",
        "hoodie.index.bucket.engine": "SIMPLE",
        "hoodie.bucket.index.num.buckets": "1",
    }
    table = table | MERGE_ON_READ | KEEP_ALL | together | {key.replace("__", "."): value for key, value in more.items()}
    reference.write(path, events(*((number, 10, number) for number in range(0, 8, 2))), "overwrite", table)
    with reference.writing(path, events((0, 20, 100), (2, 20, 102), (8, 20, 108)), table):
        reference.write(path, events((0, 20, 200), (4, 20, 204), (10, 20, 210)), "append", table)
        reference.write(path, events((2, 20, 302), (4, 20, 304)), "append", table)
        if compacts:
            statements(reference, path, table, f"CALL run_compaction(op => 'scheduleandexecute', path => '{path}')", **ONCE)
        reference.write(path, events((6, 20, 406)), "append", table)
    reference.write(path, events((0, 30, 500)), "append", table)
