"""A process that stops streams and restarts its session, run by `test_session_life.py`, which reads its stderr.

Writes what it saw as one line of JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import pyhudi
from pyhudi.spark.streaming.stream_sink import StreamSink
from tests.spark.conftest import SETTINGS

_LONG_MS = 120_000


def started(folder: Path, warehouse: str) -> SparkSession.Builder:
    """Return a builder; its sessions speak Hudi only if pyhudi says so."""
    settings = {**SETTINGS, "spark.sql.warehouse.dir": str(folder / warehouse)}
    return SparkSession.builder.master("local[1]").config(map=settings)  # type: ignore[arg-type]


def stop_within_a_batch(session: SparkSession, folder: Path) -> list[bool]:
    """Stop a stream while its batch waits in the JVM; tells whether it ended and whether it says why."""
    begun, save = threading.Event(), StreamSink._save

    def waits(sink: StreamSink, frame: Any, *rest: Any) -> None:
        begun.set()
        frame.sparkSession._jvm.java.lang.Thread.sleep(_LONG_MS)
        save(sink, frame, *rest)

    StreamSink._save = waits  # type: ignore[assignment, method-assign]
    try:
        writer = session.readStream.format("rate").load().selectExpr("value AS id").writeStream.format("hudi")
        writer = writer.options(**{"hoodie.table.name": "s", "primaryKey": "id", "checkpointLocation": str(folder / "checkpoint")})
        query = writer.start(str(folder / "streamed"))
        assert begun.wait(60)
        query.stop()
        return [query.isActive, query.exception() is not None]
    finally:
        StreamSink._save = save  # type: ignore[method-assign]


def changed(session: SparkSession) -> int:
    """Make a table in the session's catalog, change and count it."""
    session.sql("CREATE TABLE t (id INT, v STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    session.sql("MERGE INTO t USING (SELECT 1 AS id, 'a' AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    return int(session.table("t").count())


def main(folder: Path) -> dict[str, Any]:
    """Run the parts one after the other."""
    states: dict[str, Any] = {}
    session = pyhudi.enable(started(folder, "one")).getOrCreate()
    states["first"] = changed(session)
    states["indexes"] = [row.index_name for row in session.sql("SHOW INDEXES FROM t").collect()]
    states["stopped"] = stop_within_a_batch(session, folder)
    session.stop()
    again = started(folder, "two").getOrCreate()
    states["restarted"] = changed(again)
    sibling = SparkSession(again.sparkContext, again._jsparkSession.newSession())
    states["sibling"] = sibling.conf.get("spark.pyhudi.enabled", "no")
    again.stop()
    return states


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(main(Path(sys.argv[1])))}\n")
