"""Synchronisation of a table of many partitions with a real Hive metastore, and then of one new partition.

    python -m bench.kernels.catalog_sync --work <scratch folder> [--partitions N] [--warm N] [--rounds N]

Next to it the calls alone: as many partitions of the same form, added to another table in one connection, a thousand at a time. Each round
has another database, and both take turns at being the first, as the metastore becomes faster all the time: the one of PySpark's jars, on a
Derby database, needs a quarter of the processor time once Java has compiled it. `--warm` says how many partitions of other tables it has
stored before. Processor times are those of this process and of the metastore's.
"""

from __future__ import annotations

import argparse
import copy
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import connect
from tests.servers.java_server import free_port, hive_metastore

SCHEMA = pa.schema({"id": pa.int64(), "part": pa.string(), "value": pa.float64()})
HIVE = "hoodie.datasource.hive_sync"
CALL = 1000


def main() -> None:
    """Make the tables and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--warm", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    work, count = arguments.work / "catalog-sync", arguments.partitions
    shutil.rmtree(work, ignore_errors=True)
    with hive_metastore(work / "metastore", free_port()) as uri:
        synchronise(new_table(work / "warm", arguments.warm), uri, "warm")
        table = new_table(work / "table", count)
        for number in range(arguments.rounds):
            steps: dict[str, Callable[[], None]] = {
                f"{count} partitions": partial(synchronise, table, uri, f"bench{number}"),
                "the calls alone, one connection": partial(add_alone, uri, f"alone{number}", table.storage.uri, count),
            }
            for what in sorted(steps, reverse=number % 2 == 1):
                show(what, steps[what])
        for number in range(3):
            table.upsert(rows(range(count + number, count + number + 1)))
            show("one new partition", partial(synchronise, table, uri, "bench0"))
        show("nothing new", partial(synchronise, table, uri, "bench0"))


def new_table(path: Path, partitions: int) -> HudiTable:
    """Return a table with a row in each partition."""
    table = HudiTable.create(path, SCHEMA, name=path.name, keys=["id"], partition_by=["part"])
    table.bulk_insert(rows(range(partitions)))
    return table


def rows(ids: range) -> pa.Table:
    """Return rows, each of a partition of its own."""
    return pa.table({"id": ids, "part": [f"p{one:06}" for one in ids], "value": [0.5] * len(ids)}, schema=SCHEMA)


def synchronise(table: HudiTable, uri: str, database: str) -> None:
    """Synchronise a table."""
    table.services.sync(options={f"{HIVE}.metastore.uris": uri, f"{HIVE}.database": database})


def add_alone(uri: str, name: str, folder: str, count: int) -> None:
    """Add partitions in a folder, in the form of those that a sync has made, to another table of the catalog."""
    client = connect([uri])
    try:
        table = client.calls.get_table("warm", "warm")
        serde = client.calls.get_partitions("warm", "warm", 1)[0].sd.serdeInfo
        table.tableName, table.sd.location, location = name, f"file:{folder}", f"file:{folder}"
        client.calls.create_table(table)
        for begin in range(0, count, CALL):
            made = [partition(client.types, table, serde, location, number) for number in range(begin, min(begin + CALL, count))]
            client.calls.add_partitions(made)
    finally:
        client.close()


def partition(types: Any, table: Any, serde: Any, location: str, number: int) -> Any:
    """Return a partition as a sync makes it."""
    storage = copy.copy(table.sd)
    storage.location, storage.serdeInfo = f"{location}/p{number:06}", serde
    return types.Partition([f"p{number:06}"], table.dbName, table.tableName, sd=storage, parameters={})


def show(what: str, action: Callable[[], object]) -> None:
    """Run an action and print its times."""
    started, own, server = time.perf_counter(), time.process_time(), of_metastore()
    action()
    elapsed, own, server = time.perf_counter() - started, time.process_time() - own, of_metastore() - server
    print(f"{what}: {elapsed:.3f} s; processor time {own:.3f} here, {server:.2f} in the metastore", flush=True)


def of_metastore() -> float:
    """Return the seconds of processor time of this process's children, of which the metastore is the only one."""
    ids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in ids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
