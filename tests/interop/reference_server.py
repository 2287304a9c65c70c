"""Apache Hudi behind JSON lines: the process that `tests/interop/reference.py` starts with Apache Hudi's own Python.

One request a line on stdin, one answer a line on stdout. Tables travel as files: rows for Hudi as Parquet, rows from
Hudi as Arrow IPC, so that every type arrives as Spark holds it. Run: `python reference_server.py JAR SCRATCH_FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

# Apache Hudi's default is to have one; pyhudi's tables have none. A test that wants one says so.
WITHOUT_METADATA_TABLE = {"hoodie.metadata.enable": "false"}
SETTINGS = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    # Rows come from and go to the proleptic Gregorian calendar, as Arrow holds them.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # SQL takes it from here, a DataFrame's write does not.
    **WITHOUT_METADATA_TABLE,
}


def start_session(jar: str, scratch: str) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("reference").config("spark.jars", jar)
    builder = builder.config("spark.sql.warehouse.dir", f"{scratch}/warehouse")
    # Object sizes are estimated by JOL, whose attempts to attach a debugger to this JVM cost seconds.
    java = f"-Djava.io.tmpdir={scratch} -Djol.skipHotspotSAAttach=true -Djol.skipDynamicAttach=true"
    builder = builder.config("spark.driver.extraJavaOptions", java)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def session_settings(session: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)


def store(frame: DataFrame, target: str) -> None:
    batches = frame._collect_as_arrow()  # type: ignore[operator]
    # Without batches there is no Arrow schema to take; Spark's own conversion gives it.
    schema = batches[0].schema if batches else to_arrow_schema(frame.schema)
    with pa.OSFile(target, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def run_sql(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    frame: DataFrame | None = None
    with session_settings(session, request["conf"]):
        for statement in request["statements"]:
            frame = session.sql(statement)
        if frame is not None and frame.columns:
            store(frame, request["target"])
    return {"rows": bool(frame is not None and frame.columns)}


def read(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    reader = session.read.format("hudi").options(**request["options"])
    store(reader.load(request["path"]), request["target"])
    return {"rows": True}


def export(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Writes the rows of a table as Parquet, in tasks: `read` brings them to the driver, which has no room for millions."""
    frame = session.read.format("hudi").options(**request["options"]).load(request["path"])
    frame.drop(*[name for name in frame.columns if name.startswith("_hoodie_")]).write.parquet(request["target"])
    return {}


def write(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    frame = session.read.parquet(request["source"])
    options = WITHOUT_METADATA_TABLE | request["options"]
    frame.write.format("hudi").options(**options).mode(request["mode"]).save(request["path"])
    return {"rows": False}


_beside: dict[str, Future[None]] = {}
_threads = ThreadPoolExecutor()


def begin_write(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Starts a write in a thread of its own, and answers as soon as its instant is under way."""
    timeline = Path(request["path"]) / ".hoodie" / "timeline"
    before = set(timeline.glob("*.inflight"))
    _beside[request["path"]] = _threads.submit(lambda: write(session, request) and None)  # type: ignore[arg-type]
    while before >= set(timeline.glob("*.inflight")):
        if _beside[request["path"]].done():
            _beside[request["path"]].result()
            break
        time.sleep(0.05)
    return {}


def end_write(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Waits for the write that was begun."""
    del session
    _beside.pop(request["path"]).result()
    return {}


def defaults(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Has Apache Hudi read its defaults file again, which it does once a process."""
    del request
    assert session._jvm is not None
    session._jvm.org.apache.hudi.common.config.DFSPropertiesConfiguration.refreshGlobalProps()
    return {}


def key_texts(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """What Apache Hudi's key generators make of rows, without writing a table for each: they are given the Avro records of its writes."""
    assert session._jvm is not None
    hudi = session._jvm.org.apache.hudi
    frame = session.read.parquet(request["source"]).coalesce(1)
    records = hudi.HoodieSparkUtils.createRdd(frame._jdf, "record", "rows", False, hudi.common.util.Option.empty()).toJavaRDD().collect()
    records = list(records)
    # Py4J looks a package's class up at every mention of it.
    properties_of = hudi.common.config.TypedProperties
    classes = {name: getattr(hudi.keygen, name.rpartition(".")[2]) for name in {generator["class"] for generator in request["generators"]}}
    return {
        "texts": [
            texts_of(classes[generator["class"]], properties_of(), generator["options"], records) for generator in request["generators"]
        ]
    }


def texts_of(kind: Any, properties: Any, options: dict[str, str], records: list[Any]) -> list[list[str]] | str:
    for key, value in options.items():
        properties.setProperty(key, value)
    try:
        generator = kind(properties)
        return [[generator.getRecordKey(record), generator.getPartitionPath(record)] for record in records]
    except Py4JJavaError as error:
        return reason(error)


def retained(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """For each condition the files that Hudi's index keeps of a table; a file slice with logs shows by one of them."""
    frame = session.read.format("hudi").options(**request["options"]).load(request["path"])
    return {"retained": {condition: retained_for(frame, condition) for condition in request["conditions"]}}


def retained_for(frame: DataFrame, condition: str) -> list[str]:
    leaves = frame.where(condition)._jdf.queryExecution().sparkPlan().collectLeaves()
    return [name for index in range(leaves.size()) for name in files_of(leaves.apply(index))]


def files_of(scan: Any) -> Iterator[str]:
    if scan.getClass().getSimpleName() != "FileSourceScanExec":
        return
    folders = scan.relation().location().listFiles(scan.partitionFilters(), scan.dataFilters())
    for number in range(folders.size()):
        files = folders.apply(number).files()
        yield from (files.apply(index).getPath().getName() for index in range(files.size()))


def dangling(session: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Which of some files `HoodieRepairTool` removes: it is in no Spark bundle, and the functions that it calls for that are."""
    assert session._jvm is not None
    hudi, path = session._jvm.org.apache.hudi, request["path"]
    conf = hudi.hadoop.fs.HadoopFSUtils.getStorageConf(session._jsc.hadoopConfiguration())
    client = hudi.common.table.HoodieTableMetaClient.builder().setConf(conf).setBasePath(path).setLoadActiveTimelineOnLoad(True).build()
    files = session._jvm.java.util.ArrayList()
    for file in request["files"]:
        files.add(hudi.storage.StoragePath(path, file))
    archived = client.getArchivedTimeline()
    archived.loadCompletedInstantDetailsInMemory()
    repair = hudi.table.repair.RepairUtils
    by_instant = repair.tagInstantsOfBaseAndLogFiles(path, files)
    removed = [repair.findInstantFilesToRemove(one, by_instant[one], client.getActiveTimeline(), archived) for one in by_instant]
    return {"files": [str(file) for files_of_instant in removed for file in files_of_instant]}


OPERATIONS: dict[str, Callable[[SparkSession, dict[str, Any]], dict[str, Any]]] = {
    "sql": run_sql,
    "read": read,
    "export": export,
    "write": write,
    "begin_write": begin_write,
    "end_write": end_write,
    "defaults": defaults,
    "key_texts": key_texts,
    "retained": retained,
    "dangling": dangling,
}


def reason(error: BaseException) -> str:
    """The Java exception's chain of causes without its stack, or Python's own text."""
    if isinstance(error, Py4JJavaError):
        causes, cause = [], error.java_exception
        while cause is not None:
            causes.append(str(cause.toString()))
            cause = cause.getCause()
        # A failed task's exception holds its stack and causes as text.
        lines = [line for text in causes for line in text.splitlines() if not line.startswith(("\tat ", "\t... "))]
        return "\n caused by ".join(dict.fromkeys(lines))
    if isinstance(error, PySparkException):
        return str(error)
    return "".join(traceback.format_exception(error))


def serve(session: SparkSession, requests: TextIO, answers: TextIO) -> None:
    for line in requests:
        request = json.loads(line)
        try:
            answer = OPERATIONS[request["operation"]](session, request)
        except Exception as error:  # noqa: BLE001 - whatever Hudi raises is an answer
            answer = {"error": reason(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    # The JVM inherits stdout and may write to it; answers go through a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    session = start_session(sys.argv[1], sys.argv[2])
    answers.write(json.dumps({"spark": session.version}) + "\n")
    answers.flush()
    try:
        serve(session, sys.stdin, answers)
    finally:
        session.stop()


if __name__ == "__main__":
    main()
