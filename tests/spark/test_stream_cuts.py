"""A stream that dies at any call to the storage, and is started again: every row is in the table once.

Deaths are those of `pyhudi.testing.fault_injection` in this process, so that a restart costs a query and no JVM; `test_stream_kills` kills
processes.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.spark.streaming import stream_sink
from pyhudi.spark.streaming.stream_sink import StreamSink
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table import hudi_table as tables
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call
from pyhudi.workers import wait_for_background

pytestmark = pytest.mark.spark

NEVER = 1 << 60
COMPLETED = re.compile(r"^\.hoodie/timeline/\d+_\d+\.(delta)?commit$")
T = TypeVar("T")
DEATHS = (Fault.BEFORE, Fault.AFTER, Fault.TORN)


class DiesAtCommit(FaultStorage):
    """Dies as soon as a commit is complete: the table has the batch, and Spark does not know."""

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], Any] | None = None) -> T:
        if call.method in CHANGING_CALLS and COMPLETED.search(call.path):
            self._at = self._count
        return super()._pass(call, effect, torn)


class Deaths:
    """Lets the process of a stream die, as far as a table's storage can tell, at a call of a number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, table: Path) -> None:
        self.table, self.faulty = table, FaultStorage(LocalStorage(str(table)), NEVER, Fault.BEFORE)
        for module, name in ((tables, "open_table_storage"), (stream_sink, "open_storage")):
            monkeypatch.setattr(module, name, self._open)
        original = StreamSink.__call__

        def dying(sink: StreamSink, frame: DataFrame, number: int) -> None:
            try:
                original(sink, frame, number)
            except Crashed as death:  # what is no Exception never leaves py4j's thread
                raise RuntimeError(str(death)) from None

        monkeypatch.setattr(StreamSink, "__call__", dying)

    def at(self, call: int, fault: Fault) -> None:
        self.faulty = FaultStorage(LocalStorage(str(self.table)), call, fault)

    def at_commit(self) -> None:
        self.faulty = DiesAtCommit(LocalStorage(str(self.table)), NEVER, Fault.AFTER)

    def _open(self, path: str, *args: Any) -> Storage:
        return self.faulty if str(path) == str(self.table) else open_storage(path, *args)


def run_stream(spark: SparkSession, folder: Path, kind: str) -> bool:
    """Run until all files are taken; False when the stream died."""
    source = spark.readStream.schema("id long, p string").option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.operation": "insert",  # a batch that were written twice would show twice
        "hoodie.datasource.write.table.type": kind,
        "checkpointLocation": str(folder / "cp"),
    }
    query = source.writeStream.format("hudi").partitionBy("p").options(**options).trigger(availableNow=True).start(str(folder / "t"))
    try:
        query.awaitTermination()
    except StreamingQueryException:
        return False
    finally:
        wait_for_background()
    return True


def put(folder: Path, number: int) -> None:
    lines = [json.dumps({"id": 2 * number + index, "p": "xy"[index]}) for index in range(2)]
    file = folder / "in" / f"{number:04}.json"
    file.write_text("\n".join(lines))
    os.utime(file, (number, 1_800_000_000 + number))  # Spark takes files by their times


def check_cuts(spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, cuts: int) -> None:
    (folder / "in").mkdir()
    deaths, chosen, died = Deaths(monkeypatch, folder / "t"), random.Random(f"{kind} {cuts}"), 0
    put(folder, 0)
    assert run_stream(spark, folder, kind)
    for number in range(1, cuts + 1):
        put(folder, number)
        if number % 3 == 1:
            deaths.at_commit()
        else:
            deaths.at(chosen.randrange(90), chosen.choice(DEATHS))
        died += not run_stream(spark, folder, kind)
        deaths.at(NEVER, Fault.BEFORE)
        counts = Counter(HudiTable.open(folder / "t").to_arrow()["id"].to_pylist())
        assert set(counts.values()) == {1}, f"after {number} files: {counts.most_common(1)}"
    assert run_stream(spark, folder, kind)
    assert died >= cuts // 2
    assert Counter(HudiTable.open(folder / "t").to_arrow()["id"].to_pylist()) == Counter(range(2 * cuts + 2))
    assert HudiTable.open(folder / "t").inspect.health().to_pylist() == []


def test_a_stream_that_dies_and_is_started_again_writes_every_row_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_cuts(spark, tmp_path, monkeypatch, "COPY_ON_WRITE", 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # a death may strike a compaction in the background
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stream_that_dies_at_many_calls_writes_every_row_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    check_cuts(spark, tmp_path, monkeypatch, kind, 25)
