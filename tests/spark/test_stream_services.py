"""Table services of a stream: after its batches they have run, the rows are right, and a stream that was killed goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import WriteConflictError
from pyhudi.spark.options.writer_state import WriterState
from pyhudi.spark.streaming.stream_sink import StreamSink
from pyhudi.spec.options import resolve
from pyhudi.table.stream_batches import StreamBatch
from pyhudi.workers import wait_for_background
from tests.spark.test_streaming import Pipe

pytestmark = pytest.mark.spark

KEYS, BATCHES, KILLS = 6, 12, 3
BOUNDS = {
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.metadata.enable": "false",
}
#: The services of both kinds of table, in the batch or in a thread.
SERVICES: dict[tuple[str, str], dict[str, str]] = {
    ("COPY_ON_WRITE", "inline"): {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"},
    ("COPY_ON_WRITE", "async"): {
        "hoodie.clustering.async.enabled": "true",
        "hoodie.clustering.async.max.commits": "2",
        "hoodie.clean.async.enabled": "true",
        "hoodie.archive.async": "true",
    },
    ("MERGE_ON_READ", "inline"): {
        "hoodie.datasource.compaction.async.enable": "false",
        "hoodie.compact.inline": "true",
        "hoodie.compact.inline.max.delta.commits": "2",
    },
    ("MERGE_ON_READ", "async"): {
        "hoodie.compact.inline.max.delta.commits": "2",
        "hoodie.clean.async.enabled": "true",
        "hoodie.archive.async": "true",
    },
}
CASES = [pytest.param(*case, id="-".join(case)) for case in SERVICES]


def options_of(kind: str, way: str) -> dict[str, Any]:
    return {**BOUNDS, **SERVICES[kind, way], "hoodie.datasource.write.table.type": kind}


def check(path: Path, kind: str, batches: int) -> None:
    """See that each row is there once and is the newest, and that each service has run."""
    wait_for_background()
    table = HudiTable.open(path)
    rows = table.to_arrow()
    assert Counter(zip(rows["id"].to_pylist(), rows["v"].to_pylist(), strict=True)) == Counter(
        (key, str(batches - 1)) for key in range(KEYS)
    )
    history = table.history().to_pylist()
    done = Counter((one["action"], one["operation"]) for one in history if one["state"] == "completed")
    service = ("replacecommit", "CLUSTER") if kind == "COPY_ON_WRITE" else ("commit", "COMPACT")
    assert sum(count for (action, operation), count in done.items() if (action, operation) == service), done
    assert sum(count for (action, _), count in done.items() if action == "clean"), done
    active = {file.name.split("_")[0].split(".")[0] for file in (path / ".hoodie" / "timeline").iterdir()}
    archived = [one["requested"] for one in history if one["requested"] not in active]
    assert archived, sorted(active)


def put(pipe: Pipe, batches: int) -> None:
    for batch in range(batches):
        pipe.put(*((key, str(batch), "xy"[key % 2]) for key in range(KEYS)))


def test_services_of_a_stream_run_in_its_batches(spark: SparkSession, tmp_path: Path) -> None:
    pipe = Pipe(spark, tmp_path)
    put(pipe, 5)
    pipe.run(mode="update", **options_of("MERGE_ON_READ", "inline"))
    check(pipe.table, "MERGE_ON_READ", 5)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "way"), CASES)
def test_services_of_a_stream_that_is_started_again(kind: str, way: str, spark: SparkSession, tmp_path: Path) -> None:
    pipe = Pipe(spark, tmp_path)
    put(pipe, BATCHES)
    pipe.run(mode="update", **options_of(kind, way))
    check(pipe.table, kind, BATCHES)
    before = HudiTable.open(pipe.table).history().num_rows
    pipe.put(*((key, str(BATCHES), "xy"[key % 2]) for key in range(KEYS)))  # the stream is started again, and goes on
    pipe.run(mode="update", **options_of(kind, way))
    check(pipe.table, kind, BATCHES + 1)
    assert HudiTable.open(pipe.table).history().num_rows > before


STREAM = """
import json, sys
import pyhudi
from pyspark.sql import DataFrame, SparkSession

folder, options = sys.argv[1], json.loads(sys.argv[2])
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
spark = pyhudi.enable(builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1")).getOrCreate()
source = spark.readStream.schema("id long, v string, p string").option("maxFilesPerTrigger", 1).json(f"{folder}/in")
writer = source.writeStream.format("hudi").outputMode("update").partitionBy("p").options(**options)
print("started", flush=True)
writer.option("checkpointLocation", f"{folder}/cp").trigger(availableNow=True).start(f"{folder}/t").awaitTermination()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "way"), CASES)
def test_a_stream_that_is_killed_goes_on_and_so_do_its_services(kind: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    batches = 2 * BATCHES
    for batch in range(batches):
        lines = "\n".join(json.dumps({"id": key, "v": str(batch), "p": "xy"[key % 2]}) for key in range(KEYS))
        file = tmp_path / "in" / f"{batch:03}.json"
        file.write_text(lines)
        os.utime(file, (batch, 1_800_000_000 + batch))
    options = {
        **options_of(kind, way),
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
    }
    pauses = random.Random(20261128)
    for _ in range(KILLS):
        with _start(tmp_path, options) as process:
            time.sleep(pauses.uniform(1, 6))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    with _start(tmp_path, options) as process:
        assert process.wait(timeout=400) == 0
    check(tmp_path / "t", kind, batches)


def _start(folder: Path, options: dict[str, Any]) -> subprocess.Popen[str]:
    """Start the stream as the leader of a group of processes, its JVM among them; return once Spark runs."""
    command = [sys.executable, "-c", STREAM, str(folder), json.dumps(options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    return process


def test_a_batch_that_lost_is_tried_again_and_the_log_says_why_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [WriteConflictError("commit 1 completed first")]

    def lose(*_: Any) -> None:
        if errors:
            raise errors.pop()

    monkeypatch.setattr(StreamSink, "_is_written", lambda *_: False)
    monkeypatch.setattr(StreamSink, "_save", lose)
    options = resolve({"hoodie.datasource.write.streaming.retry.interval.ms": "0"})
    StreamSink(WriterState(), "append", "t")._write(cast(DataFrame, None), StreamBatch("s", "q", 7), options)
    assert not errors
    (record,) = caplog.records
    assert (record.exc_info, record.getMessage()) == (None, "batch 7 of stream s is tried again: commit 1 completed first")
