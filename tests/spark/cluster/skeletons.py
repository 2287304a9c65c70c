"""A driver whose executors are processes: it reads bootstrapped tables and one that was widened, and prints what it read.

python -m tests.spark.cluster.skeletons FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.bootstrapped import rides
from tests.spark.cluster.driver import say, session

FILES, ROWS = 4, 3000
KEY = "_hoodie_record_key"


def write(folder: Path, table_type: str) -> HudiTable:
    """Bootstrap a table, and change some rows of it."""
    source = folder / f"source-{table_type}"
    source.mkdir()
    for number in range(FILES):
        first = number * ROWS
        pq.write_table(rides(range(first, first + ROWS), "oslo"), source / f"{number}.parquet", row_group_size=1000)
    table = HudiTable.bootstrap(folder / table_type, source, name="rides", keys=["id"], order_by=["ts"], table_type=table_type)
    table.upsert(rides([1, 2], "rome", 0.5, ts=1), options={"hoodie.compact.inline": "false"})
    return table


def read(spark: SparkSession, table: HudiTable) -> dict[str, int]:
    """Count rows whose meta columns are those of the row, by executors."""
    frame = spark.read.format("hudi").load(table.storage.uri)
    return {
        "same": frame.where(f"id = {KEY}").count(),
        "distinct": frame.repartition(3).select(KEY).distinct().count(),
        "found": frame.where(f"{KEY} IN ('k1', 'k7', 'k11999')").select("id").count(),
        "of_skeletons": frame.where("_hoodie_commit_time = '00000000000001'").select("id").count(),
    }


def widen(folder: Path) -> HudiTable:
    """Write floats and longs, and doubles for both afterwards."""
    schema = pa.schema({"id": pa.string(), "c": pa.float32(), "e": pa.int64()})
    table = HudiTable.create(folder / "widened", schema, name="widened", keys=["id"])
    small = {"hoodie.parquet.small.file.limit": "0"}
    table.insert(pa.table([["a", "b"], [0.1, None], [1, 2]], schema=schema), options=small)
    table.insert(pa.table({"id": ["c"], "c": [0.3], "e": [0.5]}), options=small)
    return table


def main() -> int:
    """Read in a first session, in one with a jar of its own, and in one that the first is not known to."""
    folder = Path(sys.argv[1])
    spark = session(folder)
    frame = spark.read.format("hudi").load(widen(folder).storage.uri)
    # Spark's reader alone serves this, and yet refers to the format: it needs the classes of the format, too.
    say({"plain": [row["id"] for row in frame.select("id").repartition(2).orderBy("id").collect()]})
    rows = frame.select("id", "c", "e").repartition(2).orderBy("id")
    say({"widened": [list(row) for row in rows.collect()]})
    for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        table = write(folder, table_type)
        say({"type": table_type, "session": "first", **read(spark, table)})
        other = spark.newSession()
        say({"type": table_type, "session": "other", **read(other, table)})
        (folder / "own.txt").write_text("of this session")
        isolated = spark.newSession()
        isolated.addArtifacts(str(folder / "own.txt"), file=True)
        say({"type": table_type, "session": "isolated", **read(isolated, table)})
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
