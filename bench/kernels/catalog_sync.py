"""Synchronisation of a table of many partitions with a real Hive metastore, and then of one new partition.

    python -m bench.kernels.catalog_sync --work <scratch folder> [--partitions N]

Beside it the calls alone: as many partitions of the same form, added to another table in one connection, a thousand at a time. The
metastore is the one of PySpark's jars on a Derby database; a first round on a small table has warmed it up.
"""

from __future__ import annotations

import argparse
import copy
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import connect
from tests.servers.java_server import free_port, hive_metastore

SCHEMA = pa.schema({"id": pa.int64(), "part": pa.string(), "value": pa.float64()})
HIVE = "hoodie.datasource.hive_sync"
WARM, CALL = 500, 1000


def main() -> None:
    """Make the tables and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--partitions", type=int, default=10_000)
    arguments = parser.parse_args()
    work = arguments.work / "catalog-sync"
    shutil.rmtree(work, ignore_errors=True)
    with hive_metastore(work / "metastore", free_port()) as uri:
        synchronise(new_table(work / "warm", WARM), uri)
        table = new_table(work / "table", arguments.partitions)
        print(f"{arguments.partitions} partitions: {timed(lambda: synchronise(table, uri)):.2f} s")
        print(f"the calls alone, one connection: {timed(lambda: add_alone(uri, arguments.partitions)):.2f} s")
        for number in range(3):
            table.upsert(rows(range(arguments.partitions + number, arguments.partitions + number + 1)))
            print(f"one new partition: {timed(lambda: synchronise(table, uri)):.3f} s")
        print(f"nothing new: {timed(lambda: synchronise(table, uri)):.3f} s")


def new_table(path: Path, partitions: int) -> HudiTable:
    """Return a table with a row in each partition."""
    table = HudiTable.create(path, SCHEMA, name=path.name, keys=["id"], partition_by=["part"])
    table.bulk_insert(rows(range(partitions)))
    return table


def rows(ids: range) -> pa.Table:
    """Return rows, each of a partition of its own."""
    return pa.table({"id": ids, "part": [f"p{one:06}" for one in ids], "value": [0.5] * len(ids)}, schema=SCHEMA)


def synchronise(table: HudiTable, uri: str) -> None:
    """Synchronise a table."""
    table.services.sync(options={f"{HIVE}.metastore.uris": uri, f"{HIVE}.database": "bench"})


def add_alone(uri: str, count: int) -> None:
    """Add partitions like those of the table `table` to another table of the catalog."""
    client = connect([uri])
    try:
        table = client.calls.get_table("bench", "table")
        table.tableName, location = "alone", table.sd.location
        client.calls.create_table(table)
        for begin in range(0, count, CALL):
            made = [partition(client.types, table, location, number) for number in range(begin, min(begin + CALL, count))]
            client.calls.add_partitions(made)
    finally:
        client.close()


def partition(types: Any, table: Any, location: str, number: int) -> Any:
    """Return a partition as a sync makes it."""
    storage = copy.copy(table.sd)
    storage.location = f"{location}/p{number:06}"
    return types.Partition([f"p{number:06}"], "bench", "alone", sd=storage, parameters={})


def timed(action: Callable[[], object]) -> float:
    """Return the seconds of an action."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
