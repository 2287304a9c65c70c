"""What it costs to read the options of a write: from names and values to the settings of the write, checked against the table.

    python -m bench.kernels.option_reading

More than 2 ms of processor time end with status 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.write.options.write_config import choose

GOAL_MS = 2.0
#: As jobs have them: identity, tuning of the JVM, services, metrics, and a name that nobody knows.
OPTIONS = {
    "hoodie.table.name": "rides",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
    "hoodie.upsert.shuffle.parallelism": "200",
    "hoodie.insert.shuffle.parallelism": "200",
    "hoodie.embed.timeline.server": "false",
    "hoodie.index.type": "SIMPLE",
    "hoodie.clean.commits.retained": "10",
    "hoodie.keep.min.commits": "20",
    "hoodie.keep.max.commits": "30",
    "hoodie.parquet.max.file.size": "125829120",
    "hoodie.metadata.enable": "true",
    "hoodie.metrics.on": "true",
    "hoodie.metrics.reporter.type": "INMEMORY",
    "hoodie.write.commit.callback.on": "false",
    "hoodie.of.another.release": "true",
}


def main() -> int:
    """Measure, print milliseconds of processor time."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.option_reading")
    parser.add_argument("--repetitions", type=int, default=500)
    count = parser.parse_args().repetitions
    with tempfile.TemporaryDirectory() as folder:
        schema = pa.schema({"id": pa.int64(), "city": pa.string(), "ts": pa.int64()})
        table = HudiTable.create(folder + "/rides", schema, name="rides", keys=["id"], partition_by=["city"], order_by=["ts"])
        first = milliseconds(table, 1)
        later = milliseconds(table, count)
    print(f"first call of a process {first:8.3f} ms")
    print(f"later calls             {later:8.3f} ms, {len(OPTIONS)} options")
    return 0 if later <= GOAL_MS else 1


def milliseconds(table: HudiTable, count: int) -> float:
    """Return the processor time of one reading."""
    started = time.process_time()
    for _ in range(count):
        choose(resolve(OPTIONS), table.config, Operation.UPSERT)
    return (time.process_time() - started) / count * 1000


if __name__ == "__main__":
    sys.exit(main())
