"""A soak with Apache Hudi as one of the writers, under a lock of ZooKeeper that both sides take.

By hand, with the variables that `make interop` sets: `python -m tests.interop.shared_soak --seconds 300 --kind MERGE_ON_READ FOLDER`.
Apache Hudi's process is killed as the others are, with its JVM. All writers insert and delete in partitions of their own only: Apache
Hudi does not compare the keys that two writers insert. On merge-on-read tables Apache Hudi inserts no key that it has deleted: its indexes
SIMPLE and BLOOM look for keys in base files only. A key that it deletes, and inserts again while a compaction of that deletion is pending,
is in a log file only afterwards, so that its next write inserts it once more; without pyhudi and with one writer, too.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow as pa

from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.interop.kinds import Kind
from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.unit.locks.zookeeper_server import zookeeper_server
from tests.unit.processes import roles
from tests.unit.processes.roles import Role, Setting
from tests.unit.processes.soak import Crew, Disturbance, soak
from tests.unit.processes.workload import OWN_KEYS, SCHEMA, Change, next_change

NAMES = ("writer1", "writer2", "hudi3", "compactor1", "cleaner1", "reader1")
LOCK = {
    # Apache Hudi's lock file does not do: its writers can delete that of others.
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
    "hoodie.write.lock.zookeeper.base_path": "/soak",
    "hoodie.write.lock.zookeeper.lock_key": "soak",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "100",
    "hoodie.write.lock.wait_time_ms": "120000",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",  # there is one machine
}
#: With statistics of columns Apache Hudi builds statistics of partitions, whatever else its options say, and without the lock. Writers of
#: pyhudi drop these on merge-on-read tables (docs/concurrency.md#the-metadata-table), so that its writes fail in turn.
WITHOUT_STATISTICS = {"hoodie.metadata.index.column.stats.enable": "false"}
#: Apache Hudi looks at its heartbeat before it takes the lock: a process that is stopped for seconds must not count as dead meanwhile.
HEARTBEAT_MS = 10_000
THEIRS = {
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.auto.upgrade": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
}
#: Conflicts, one of them with a planned clustering.
REFUSALS = ("HoodieWriteConflictException", "HoodieClusteringUpdateException")
#: What a write of Apache Hudi ends with that has listed a timeline while an action was archived: `RawLocalFileSystem.listStatus` asks for
#: the status of each name and leaves out those that are missing by then, so that it sees the requested file and not the completed one.
MISSED = re.compile(r"/table/(?P<metadata>[.]hoodie/metadata/)?[.]hoodie/timeline/(?P<time>\d{17})[.][a-z.]+ does not exist")


def write_with_hudi(role: Role) -> None:
    """Write one change after the other with Apache Hudi, and note of each what became of it."""
    chance = random.Random(f"{role.name} {role.incarnation}")
    setting = role.setting
    options = {**setting.options, **THEIRS}
    kind = Kind("soak", version=setting.version, table_type=setting.table_type)
    deleted = deleted_keys(role) if setting.table_type == "MERGE_ON_READ" else set()
    with ReferenceHudi(role.folder / f"{role.name}-{role.incarnation}") as hudi:
        for number in count(1):
            change = next_change(chance, role.number, 1_000_000 * role.number + 10_000 * role.incarnation + number, lasting=True)
            if change.kind not in ("upsert", "delete"):
                continue
            if setting.table_type == "MERGE_ON_READ":
                change = with_new_keys(change, deleted)
            name = f"{role.name}-{role.incarnation}-{number}"
            rows = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in change.rows], SCHEMA)
            role.note("begin", name=name, change=change.to_json())
            try:
                stated = {**kind.reference_options(change.kind), "hoodie.table.name": "soak", **options, "_write": name}
                hudi.write(role.folder / "table", rows, "append", stated)
            except ReferenceFailure as error:
                is_refused = any(refusal in str(error) for refusal in REFUSALS)
                role.note("refused" if is_refused else "failed", name=name, error=str(error)[:2000])
            else:
                role.note("done", name=name, instant="of Apache Hudi")


def deleted_keys(role: Role) -> set[int]:
    """Return the keys that earlier processes of Apache Hudi deleted, or tried to."""
    path = role.folder / f"{role.name}.log"
    events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    changes = [Change.from_json(event["change"]) for event in events if event["kind"] == "begin"]
    return {row[0] for change in changes if change.kind == "delete" for row in change.rows}


def with_new_keys(change: Change, deleted: set[int]) -> Change:
    """Return a change with other keys in place of deleted ones, to which those that it deletes are added."""
    rows = tuple((next(new for new in count(key, OWN_KEYS) if new not in deleted), city, value) for key, city, value in change.rows)
    if change.kind == "delete":
        deleted.update(key for key, _, _ in rows)
    return replace(change, rows=rows)


def without_missed(folder: Path, faults: list[str]) -> Iterator[str]:
    """Yield the faults but those of writes of Apache Hudi that listed a timeline while it was archived: the archive has the action."""
    for fault in faults:
        match = MISSED.search(fault) if fault.startswith("hudi") else None
        if match is not None:
            storage = LocalStorage(str(folder / "table" / (match["metadata"] or "").removesuffix("/")))
            history = load_full_timeline(storage, TableConfig(load_properties(storage))).archive
            if history is not None and history.find(match["time"]):
                continue
        yield fault


def soak_with_hudi(folder: Path, table_type: str, version: int, seconds: float, seed: int) -> tuple[list[str], dict[str, int]]:
    """Soak a table of a type and version, and return its faults and what happened how often, the rows that Apache Hudi reads included."""
    roles.ROLES["hudi"] = write_with_hudi
    server = folder.with_name(f"{folder.name}-zookeeper")
    server.mkdir(parents=True)
    with zookeeper_server(server) as address:
        statistics = WITHOUT_STATISTICS if table_type == "MERGE_ON_READ" else {}
        options = {**LOCK, **statistics, "hoodie.write.lock.zookeeper.url": address}
        setting = Setting(table_type, version, lasting=True, heartbeat_ms=HEARTBEAT_MS, other_options=options)
        faults, counts = soak(Crew(folder, setting, NAMES), seconds, seed, Disturbance(3.0, slow=frozenset({"hudi3"})))
    hudis = [json.loads(line) for path in folder.glob("hudi*.log") for line in path.read_text().splitlines()]
    counts["of Apache Hudi"] = sum(event["kind"] == "done" for event in hudis)
    every, faults = len(faults), list(without_missed(folder, faults))
    counts["missed by Apache Hudi"] = every - len(faults)
    with ReferenceHudi(folder / "reader") as hudi:
        theirs = hudi.read(folder / "table").select(SCHEMA.names).sort_by("id").to_pylist()
    ours = Role("reader0", 0, 0, setting, folder).open().to_arrow(SCHEMA.names).sort_by("id").to_pylist()
    return [*faults, *([] if theirs == ours else [f"Apache Hudi reads {theirs}, pyhudi {ours}"])], counts


def main() -> None:
    """Run one soak and print its faults as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="COPY_ON_WRITE")
    parser.add_argument("--version", type=int, default=9)
    given = parser.parse_args()
    faults, counts = soak_with_hudi(given.folder, given.kind, given.version, given.seconds, given.seed)
    sys.stdout.write(json.dumps({"faults": faults, "counts": counts}) + "\n")


if __name__ == "__main__":
    main()
