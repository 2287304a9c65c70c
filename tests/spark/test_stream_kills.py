"""A stream whose process is killed again and again, whatever its state: every row is there once."""

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

import pytest

from pyhudi import HudiTable

pytestmark = pytest.mark.spark

KILLS = 4
FILES = 30
STREAM = """
import sys
import pyhudi
from pyspark.sql import SparkSession

folder, kind = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
spark = pyhudi.enable(builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1")).getOrCreate()
source = spark.readStream.schema("id long, p string").option("maxFilesPerTrigger", 1).json(f"{folder}/in")
writer = source.writeStream.format("hudi").partitionBy("p").options(**{
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.operation": "insert",
    "hoodie.datasource.write.table.type": kind,
})
print("started", flush=True)
writer.option("checkpointLocation", f"{folder}/cp").trigger(availableNow=True).start(f"{folder}/t").awaitTermination()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stream_that_is_killed_again_and_again_writes_every_row_once(kind: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        lines = [json.dumps({"id": 10 * number + index, "p": "xy"[index % 2]}) for index in range(10)]
        (tmp_path / "in" / f"{number:03}.json").write_text("\n".join(lines))
    pauses = random.Random(20261121)
    for _ in range(KILLS):
        process = _start(tmp_path, kind)
        time.sleep(pauses.uniform(0.5, 6))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process = _start(tmp_path, kind)
    assert process.wait(timeout=300) == 0
    table = HudiTable.open(tmp_path / "t").to_arrow()
    assert Counter(table["id"].to_pylist()) == Counter(range(10 * FILES))


def _start(folder: Path, kind: str) -> subprocess.Popen[str]:
    """Start the stream as the leader of a group of processes, its JVM among them; return once Spark runs."""
    command = [sys.executable, "-c", STREAM, str(folder), kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    return process
