"""The check for conflicts of an optimistic write against commits that completed while it wrote.

    python -m bench.kernels.conflicts --work <scratch folder> [--commits N] [--files N]

A commit has ten file groups in ten partitions, none of them of the write, which has `--files`. Medians of processor time are printed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
import uuid
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation, WriteStat
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.instant_details import read_bytes
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.write_conflicts import ComparedWrite, check_conflicts

ROUNDS = 9
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def main() -> None:
    """Make the table and print what the check takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--files", type=int, default=10)
    arguments = parser.parse_args()
    path = arguments.work / "conflicts"
    shutil.rmtree(path, ignore_errors=True)
    table = HudiTable.create(path, SCHEMA, name="conflicts", keys=["id"], partition_by=["city"])
    table.upsert([{"id": number, "city": f"c{number % 10}"} for number in range(100)], options={"hoodie.metadata.enable": "false"})
    before = load_timeline(table.storage, table.config)
    content = read_bytes(table.storage, table.config, before.instants[-1])
    for number in range(arguments.commits):
        requested, completed = f"20990101{number:09d}", f"20990102{number:09d}"
        for state in (State.REQUESTED, State.INFLIGHT, State.COMPLETED):
            instant = Instant(requested, Action.COMMIT, state, completed if state is State.COMPLETED else None)
            table.storage.create(
                f"{table.config.timeline_path}/{instant.file_name(table.config.layout)}", content if state is State.COMPLETED else b""
            )
    ids = [f"{uuid.uuid4()}-0" for _ in range(arguments.files)]
    stats = tuple(WriteStat(file_id, f"c1/{file_id}_0-0-0_20990103000000000.parquet", partition_path="c1") for file_id in ids)
    mine, seconds = ComparedWrite("20990103000000000", Operation.UPSERT, stats), []
    with locked_table(table.storage, 10, SystemClock(), SystemIds()) as now:
        for _ in range(ROUNDS):
            began = time.process_time()
            check_conflicts(before, now, mine, None)
            seconds.append(time.process_time() - began)
    print(f"{arguments.commits} commits, {arguments.files} file groups: {statistics.median(seconds) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
