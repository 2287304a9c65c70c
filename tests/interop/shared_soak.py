"""A soak with Apache Hudi as one of the writers, under a lock of ZooKeeper that both sides take.

By hand, with the variables that `make interop` sets: `python -m tests.interop.shared_soak --seconds 300 --kind MERGE_ON_READ FOLDER`.
Apache Hudi's process is killed as the others are, with its JVM. All writers insert and delete in partitions of their own only: Apache
Hudi does not compare the keys that two writers insert.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

import pyarrow as pa

from tests.interop.kinds import Kind
from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.unit.locks.zookeeper_server import zookeeper_server
from tests.unit.processes import roles
from tests.unit.processes.roles import Role, Setting
from tests.unit.processes.soak import Crew, Disturbance, soak
from tests.unit.processes.workload import SCHEMA, next_change

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


def write_with_hudi(role: Role) -> None:
    """Write one change after the other with Apache Hudi, and note of each what became of it."""
    chance, count = random.Random(f"{role.name} {role.incarnation}"), 0
    setting = role.setting
    options = {**setting.options, **THEIRS}
    kind = Kind("soak", version=setting.version, table_type=setting.table_type)
    with ReferenceHudi(role.folder / f"{role.name}-{role.incarnation}") as hudi:
        while True:
            count += 1
            change = next_change(chance, role.number, 1_000_000 * role.number + 10_000 * role.incarnation + count, lasting=True)
            if change.kind not in ("upsert", "delete"):
                continue
            name = f"{role.name}-{role.incarnation}-{count}"
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
