"""A table of many files that are links to few: its commits are whole, and making it takes seconds instead of an hour."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.options import resolve
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.transaction import begin

SCHEMA = pa.schema({"id": pa.int64(), "part": pa.string(), "value": pa.float64()})
#: Nothing is cleaned or archived but when it is measured.
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.parquet.small.file.limit": "0"}
#: File systems allow some 65,000 links to a file.
_LINKS = 30_000
_Answer = TypeVar("_Answer")


class LinkedTable:
    """A table of so many partitions, each of which gets the same number of files from each commit."""

    def __init__(self, path: Path, partitions: int, metadata_table: str = "true") -> None:
        shutil.rmtree(path, ignore_errors=True)
        self.path, self.partitions = path, partitions
        self.table = HudiTable.create(path, SCHEMA, name="linked", keys=["id"], partition_by=["part"])
        self._options = {**QUIET, "hoodie.metadata.enable": metadata_table}
        self.table.insert(rows_of(1), self._options)
        first = path / partition_path(0)
        self._content = next(first.glob("*.parquet")).read_bytes()
        for number in range(1, partitions):
            (path / partition_path(number)).mkdir()
            shutil.copy(first / PARTITION_METAFILE, path / partition_path(number))
        self._links, self._before = 0, "null"

    def commit(self, files: int, *, partitions: int | None = None, same_groups: bool = True) -> str:
        """Commit so many files in each partition, or in the first few, and return the instant: new slices of groups, or new groups."""
        prefix = 0 if same_groups else int(time.time() * 1000)
        settings = metadata_settings(resolve(self._options))
        write = begin(
            self.table.storage,
            Operation.UPSERT,
            wait_s=60,
            clock=SystemClock(),
            ids=SystemIds(),
            roll_back=roll_back_failed_writes,
            metadata_table=settings,
        )
        with write as transaction:
            schema = table_schema(transaction.table.storage, transaction.table.config, transaction.table.timeline).avro_json
            transaction.start(CommitMetadata({}, operation=Operation.UPSERT), schema_json=schema)
            before = self._before if same_groups else "null"
            results = [
                self._link(partition_path(partition), f"{partition:08x}-0000-0000-0000-{prefix + file:012x}-0", transaction.instant, before)
                for partition in range(partitions or self.partitions)
                for file in range(files)
            ]
            transaction.commit(results, schema_json=schema)
            if same_groups:
                self._before = transaction.instant
            return transaction.instant

    def _link(self, partition: str, file_id: str, instant: str, before: str) -> TaskResult:
        path = f"{partition}/{file_id}_0-0-0_{instant}.parquet"
        if self._links % _LINKS == 0:
            self._source = self.path / ".hoodie" / f"linked-{self._links}"
            self._source.write_bytes(self._content)
        os.link(self._source, self.path / path)
        self._links += 1
        size = len(self._content)
        stat = WriteStat(
            file_id=file_id,
            path=path,
            prev_commit=before,
            partition_path=partition,
            num_writes=1,
            num_inserts=1,
            total_write_bytes=size,
            file_size_in_bytes=size,
        )
        return TaskResult(stat, 0, path)


def partition_path(number: int) -> str:
    """Return the path of a partition."""
    return f"p{number:05}"


def rows_of(count: int) -> pa.Table:
    """Return one row for each of the first partitions."""
    return pa.table({"id": range(count), "part": [partition_path(one) for one in range(count)], "value": [0.5] * count}, schema=SCHEMA)


def timed(action: Callable[[], _Answer]) -> tuple[_Answer, float, float]:
    """Return what an action returns, its seconds, and those of its processor time."""
    began, used = time.perf_counter(), time.process_time()
    answer = action()
    return answer, time.perf_counter() - began, time.process_time() - used


def deletes(storage_of: HudiTable, files: int, partitions: int) -> tuple[float, float]:
    """Return seconds and processor time of deleting as many links by the storage, one after another."""
    storage = storage_of.storage
    folder = Path(storage.uri.removeprefix("file://")) / "deleted"
    names = [f"{partition_path(number % partitions)}/{number}.parquet" for number in range(files)]
    for number, name in enumerate(names):
        source = f"source-{number // _LINKS}"
        if number % _LINKS == 0:
            storage.create(f"deleted/{source}", b"0" * 4096)
        (folder / name).parent.mkdir(exist_ok=True)
        os.link(folder / source, folder / name)
    return timed(lambda: [storage.delete(f"deleted/{name}") for name in names])[1:]
