"""Markers of a write of many files, direct and in batches of the driver: creating, reading, deleting them.

    python -m bench.kernels.markers --work <scratch folder> [--files N] [--tasks N]

As many threads as tasks each create one marker after the other, as tasks do; no data files are written. On a local disk, and on the S3
server of the tests, for which PYHUDI_SERVERS_PYTHON names the Python with moto. Requests are those of the object store.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyhudi.markers.choose_markers import markers_of
from pyhudi.markers.marker_settings import MarkerSettings
from pyhudi.spec.files.marker import MarkerType
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.markers import delete_markers, marked_files
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.unit.storage.cloud_store import CountingObstore

INSTANT = "20260101000000000"
KINDS = {"direct": MarkerSettings("DIRECT"), "batched": MarkerSettings("TIMELINE_SERVER_BASED")}


def main() -> None:
    """Print a line for each storage and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--tasks", type=int, default=200)
    arguments = parser.parse_args()
    work = arguments.work / "markers"
    shutil.rmtree(work, ignore_errors=True)
    print(f"{arguments.files} files of {arguments.tasks} tasks at a time")
    for name, settings in KINDS.items():
        measure(f"local disk, {name}", LocalStorage(str(work / name)), settings, arguments.files, arguments.tasks)
    if "PYHUDI_SERVERS_PYTHON" not in os.environ:
        return
    counting = CountingObstore()
    cloud_client.obstore_functions = lambda: counting
    with s3_server(work / "s3", free_port()) as options:
        for name, settings in KINDS.items():
            counting.requests.clear()
            storage = CloudStorage(f"s3://bucket/{name}", tuple(sorted(options.items())))
            measure(f"S3 server, {name}", storage, settings, arguments.files, arguments.tasks)
            print(f"    requests: {counting.counts()}")


def measure(name: str, storage: Storage, settings: MarkerSettings, files: int, tasks: int) -> None:
    """Print the seconds of each step, and those of the processor."""
    paths = [f"p={number % 100}/{number:08x}-0000-0000-0000-000000000000-0_{number}-0-0_{INSTANT}.parquet" for number in range(files)]
    cpu = time.process_time()

    def create_all() -> None:
        with markers_of(storage, INSTANT, settings, None) as route, ThreadPoolExecutor(tasks) as pool:
            parts = [paths[one::tasks] for one in range(tasks)]

            def task(some: list[str]) -> None:
                for path in some:
                    route.create(storage, INSTANT, path, MarkerType.CREATE)

            list(pool.map(task, parts))

    steps = {
        "create": seconds(create_all),
        "read": seconds(lambda: check(marked_files(storage, INSTANT), files)),
        "delete": seconds(lambda: delete_markers(storage, INSTANT)),
    }
    line = ", ".join(f"{step} {spent:.2f} s" for step, spent in steps.items())
    print(f"{name}: {line}; processor {time.process_time() - cpu:.2f} s")


def check(marked: frozenset[str] | None, files: int) -> None:
    """See that all markers are there."""
    assert marked is not None
    assert len(marked) == files


def seconds(step: Callable[[], None]) -> float:
    """Return how long a step takes."""
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
