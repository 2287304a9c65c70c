"""Streams: batches as commits, each exactly once, and a table as a stream."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import OptionError, UnsupportedError, UsageError
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spark.streaming.stream_sink import StreamSink
from pyhudi.workers import wait_for_background

pytestmark = pytest.mark.spark

SCHEMA = "id long, v string, p string"
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.operation": "insert",  # a batch that were written twice would show twice
}


class Pipe:
    """A folder of files that is read as a stream, a table that it is written to, and the checkpoint between them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.table = spark, folder, folder / "t"
        (folder / "in").mkdir()

    def put(self, *rows: tuple[int, str, str]) -> None:
        number = len(list((self.folder / "in").iterdir()))
        lines = "\n".join(json.dumps(dict(zip(("id", "v", "p"), row, strict=True))) for row in rows)
        file = self.folder / "in" / f"{number:03}.json"
        file.write_text(lines)
        os.utime(file, (number, 1_800_000_000 + number))  # Spark takes files by their times

    def source(self) -> DataFrame:
        return self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(self.folder / "in"))

    def run(self, frame: DataFrame | None = None, mode: str = "append", checkpoint: str = "cp", **options: Any) -> None:
        writer = (self.source() if frame is None else frame).writeStream.format("hudi").outputMode(mode).partitionBy("p")
        writer = writer.options(**{**OPTIONS, **options}).option("checkpointLocation", str(self.folder / checkpoint))
        writer.trigger(availableNow=True).start(str(self.table)).awaitTermination()

    def rows(self) -> Counter[tuple[int, str]]:
        table = HudiTable.open(self.table).to_arrow()
        return Counter(zip(table["id"].to_pylist(), table["v"].to_pylist(), strict=True))


@pytest.fixture
def pipe(spark: SparkSession, tmp_path: Path) -> Pipe:
    return Pipe(spark, tmp_path)


def test_every_batch_is_one_commit_and_a_batch_given_twice_counts_once(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe.put((1, "a", "x"), (2, "a", "y"))
    pipe.put((3, "a", "x"))
    pipe.run()
    assert HudiTable.open(pipe.table).history().num_rows == 2
    assert {path.name for path in pipe.table.iterdir()} >= {"x", "y"}

    save = StreamSink._save

    def dies_after_the_commit(self, *args):
        save(self, *args)
        raise RuntimeError("killed")

    pipe.put((4, "a", "y"))
    with monkeypatch.context() as patched:
        patched.setattr(StreamSink, "_save", dies_after_the_commit)
        with contextlib.suppress(StreamingQueryException):
            pipe.run()
    assert sum(pipe.rows().values()) == 4
    pipe.put((5, "a", "y"))
    pipe.run()
    assert pipe.rows() == Counter({(number, "a"): 1 for number in range(1, 6)})


def test_a_stream_with_a_new_checkpoint_is_another_stream(pipe: Pipe) -> None:
    pipe.put((1, "a", "x"))
    pipe.run()
    pipe.run(checkpoint="other")
    assert pipe.rows() == Counter({(1, "a"): 2})


def test_update_upserts_and_complete_replaces(pipe: Pipe) -> None:
    upsert: dict[str, Any] = {"hoodie.datasource.write.operation": "upsert"}
    pipe.put((1, "a", "x"), (2, "a", "x"))
    pipe.run(mode="update", **upsert)
    pipe.put((1, "b", "x"))
    pipe.run(mode="update", **upsert)
    assert pipe.rows() == Counter({(1, "b"): 1, (2, "a"): 1})
    counts = pipe.source().groupBy("p").count().selectExpr("count AS id", "'sum' AS v", "p")
    pipe.run(counts, mode="complete", checkpoint="counts", **upsert)
    assert pipe.rows() == Counter({(3, "sum"): 1})


def test_a_wrong_option_is_refused_before_the_stream_starts(pipe: Pipe) -> None:
    with pytest.raises(OptionError, match="recordkey"):
        pipe.source().writeStream.format("hudi").option("hoodie.datasource.write.recordkeys.field", "id").start(str(pipe.table))
    with pytest.raises(UsageError, match="path"):
        pipe.source().writeStream.format("hudi").start()
    assert not pipe.table.exists()


def test_a_start_that_is_no_time_is_refused_before_the_stream_starts(pipe: Pipe) -> None:
    pipe.put((1, "a", "x"))
    pipe.run()
    reader = pipe.spark.readStream.format("hudi").option("hoodie.datasource.streaming.startOffset", "yesterday")
    with pytest.raises(OptionError, match="'yesterday' is not a time"):
        reader.load(str(pipe.table))


def test_a_stream_without_a_checkpoint_is_refused(pipe: Pipe) -> None:
    with pytest.raises(OptionError, match="checkpointLocation"):
        pipe.source().writeStream.format("hudi").options(**OPTIONS).start(str(pipe.folder / "nowhere"))
    assert not (pipe.folder / "nowhere").exists()


def test_other_formats_keep_their_partitions(pipe: Pipe) -> None:
    pipe.put((1, "a", "x"))
    writer = pipe.source().writeStream.format("parquet").partitionBy("p").option("checkpointLocation", str(pipe.folder / "cp"))
    writer.trigger(availableNow=True).start(str(pipe.table)).awaitTermination()
    assert (pipe.table / "p=x").is_dir()


def test_a_table_as_a_stream_gives_what_each_commit_wrote(pipe: Pipe) -> None:
    made: dict[str, Any] = {
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.table.cdc.enabled": "true",
        "hoodie.datasource.write.operation": "upsert",
    }
    pipe.put((1, "a", "x"), (2, "a", "y"))
    pipe.run(**made)
    follower = Follower(pipe, "rows")
    changes = Follower(pipe, "changes", **{"hoodie.datasource.query.incremental.format": "cdc"})
    assert follower.next("id", "v") == [(1, "a"), (2, "a")]
    assert changes.next("op") == [("i",), ("i",)]
    pipe.put((1, "b", "x"), (3, "b", "y"))
    pipe.run(**made)
    assert follower.next("id", "v") == [(1, "b"), (3, "b")]
    assert changes.next("op") == [("i",), ("u",)]
    assert follower.next("id", "v") == []
    late = Follower(pipe, "late", **{"hoodie.datasource.streaming.startOffset": "latest"})
    assert late.next("id", "v") == []


class Follower:
    """Reads the table of a pipe as a stream, from its own checkpoint on."""

    def __init__(self, pipe: Pipe, name: str, **options: Any) -> None:
        self.pipe, self.name, self.options = pipe, name, options

    def next(self, *columns: str) -> list[tuple[Any, ...]]:
        result: list[tuple[Any, ...]] = []
        stream = self.pipe.spark.readStream.format("hudi").options(**self.options).load(str(self.pipe.table))
        writer = stream.writeStream.foreachBatch(lambda frame, _: result.extend(map(tuple, frame.select(*columns).collect())))
        writer = writer.option("checkpointLocation", str(self.pipe.folder / self.name))
        writer.trigger(availableNow=True).start().awaitTermination()
        return sorted(result)


@pytest.mark.slow
def test_a_limited_stream_takes_so_many_commits_a_batch_also_after_a_restart(pipe: Pipe) -> None:
    for number in range(4):
        pipe.put((number, "a", "x"))
    pipe.run()
    limited = Limited(pipe, 1)
    assert limited.batches() == [[0], [1], [2], [3]]
    for number in range(4, 7):
        pipe.put((number, "a", "y"))
    pipe.run()
    assert limited.batches() == [[4], [5], [6]]
    with pytest.raises(UnsupportedError, match=r"max\.commits"):
        limited.stream().writeStream.trigger(availableNow=True)
    begin = HudiTable.open(pipe.table).history().column("completed")[4].as_py()
    assert Limited(pipe, 5, **{"hoodie.datasource.streaming.startOffset": begin}).batches() == [[5, 6]]


@pytest.mark.slow
def test_a_stream_keeps_the_columns_it_began_with_and_a_restarted_one_has_new_ones(pipe: Pipe) -> None:
    pipe.put((1, "a", "x"))
    pipe.run()
    received: list[tuple[Any, ...]] = []
    stream = pipe.spark.readStream.format("hudi").load(str(pipe.table)).drop(*META_COLUMNS)
    writer = stream.writeStream.foreachBatch(lambda frame, _: received.extend(map(tuple, frame.collect())))
    query = writer.option("checkpointLocation", str(pipe.folder / "wide")).start()
    try:
        query.processAllAvailable()
        pipe.put((2, "b", "x"))
        pipe.run(pipe.source().selectExpr("*", "id * 10 AS tens"))
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(received) == [(1, "a", "x"), (2, "b", "x")]
    assert Follower(pipe, "anew").next("id", "tens") == [(1, None), (2, 20)]


def test_streams_with_names_of_their_own_share_a_table_and_a_moved_checkpoint_continues(pipe: Pipe) -> None:
    names: dict[str, Any] = {one: {"hoodie.datasource.write.streaming.checkpoint.identifier": one} for one in ("left", "right")}
    for number in (1, 2):
        pipe.put((number, "a", "x"))
        for one, options in names.items():
            pipe.run(checkpoint=one, **options)
    assert pipe.rows() == Counter({(1, "a"): 2, (2, "a"): 2})
    shutil.move(pipe.folder / "left", pipe.folder / "elsewhere")
    pipe.put((3, "a", "x"))
    pipe.run(checkpoint="elsewhere", **names["left"])
    assert pipe.rows() == Counter({(1, "a"): 2, (2, "a"): 2, (3, "a"): 1})


def test_an_upserting_stream_whose_checkpoint_is_lost_doubles_nothing(pipe: Pipe) -> None:
    upsert: dict[str, Any] = {"hoodie.datasource.write.operation": "upsert"}
    pipe.put((1, "a", "x"))
    pipe.run(**upsert)
    shutil.rmtree(pipe.folder / "cp")
    pipe.put((2, "a", "x"))
    pipe.run(**upsert)
    assert pipe.rows() == Counter({(1, "a"): 1, (2, "a"): 1})


def test_a_merge_on_read_table_is_compacted_between_batches(pipe: Pipe) -> None:
    often: dict[str, Any] = {
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.compact.inline.max.delta.commits": "2",
    }
    for number in range(5):
        pipe.put((1, str(number), "x"))
    pipe.run(**often)
    wait_for_background()
    history = HudiTable.open(pipe.table).history().to_pylist()
    assert any(row["operation"] == "COMPACT" and row["state"] == "completed" for row in history)
    assert pipe.rows() == Counter({(1, "4"): 1})


class Limited:
    """Reads the table of a pipe as a stream of a few commits a batch."""

    def __init__(self, pipe: Pipe, commits: int, **options: Any) -> None:
        self.pipe, self.options = pipe, {"pyhudi.streaming.max.commits": str(commits), **options}

    def stream(self) -> DataFrame:
        return self.pipe.spark.readStream.format("hudi").options(**self.options).load(str(self.pipe.table))

    def batches(self) -> list[list[int]]:
        """The ids of each batch until there is no more; the next call goes on from its checkpoint."""
        result: list[list[int]] = []
        writer = self.stream().writeStream.foreachBatch(lambda frame, _: result.append(sorted(row.id for row in frame.collect())))
        checkpoint = str(self.pipe.folder / f"limited{len(self.options)}")
        query = writer.option("checkpointLocation", checkpoint).trigger(processingTime="0 seconds").start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return result


@pytest.mark.parametrize(
    ("begun", "error", "lines"),
    [
        ("EOFError", "BrokenPipeError", 1),  # stopped between two calls
        ("ConnectionResetError", "BrokenPipeError", 1),
        ("BrokenPipeError", "BrokenPipeError", 1),  # stopped before the source was ready
        ("EOFError", "ValueError", 9),
        ("ValueError", "BrokenPipeError", 9),
    ],
)
def test_source_of_a_stopped_stream_ends_with_one_line(begun: str, error: str, lines: int) -> None:
    # As PySpark's process of the source ends: it cannot read or answer, and fails to say so.
    script = f"""
import pickle, sys, types
from pyhudi.spark.streaming.stream_source import HudiStream
pickled = pickle.dumps(HudiStream({{"path": "/data/t"}}))
sys.modules["__main__"].__spec__ = types.SimpleNamespace(name="pyspark.sql.streaming.python_streaming_source_runner")
source = pickle.loads(pickled)
assert source.options == {{"path": "/data/t"}}
try:
    raise {begun}
except BaseException:
    raise {error}
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) >= lines, ended.stderr
    assert (ended.stderr == "pyhudi: the stream of table /data/t was stopped\n") == (lines == 1)
