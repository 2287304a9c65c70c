"""Commit callbacks of DataFrames by both engines, of SQL, and of streams."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pyhudi
from pyhudi import CommitCallbackMessage
from pyhudi.errors import OptionError

KEY = "hoodie.write.commit.callback"
NAME = "com.example.OfSpark"


class Recorder:
    def __init__(self) -> None:
        self.messages: list[CommitCallbackMessage] = []

    def call(self, message: CommitCallbackMessage) -> None:
        self.messages.append(message)


def test_every_way_of_writing_on_spark_calls_it(spark: SparkSession, tmp_path: Path) -> None:
    recorder = Recorder()
    pyhudi.register_commit_callback(NAME, recorder)
    path = str(tmp_path / "t")
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", f"{KEY}.on": "true", f"{KEY}.class": NAME}
    rows = spark.sql("SELECT 'a' AS id, 1 AS n")
    for engine in ("local", "spark"):
        rows.write.format("hudi").options(**options, **{"pyhudi.engine": engine}).mode("append").save(path)
    assert [message.base_path.removeprefix("file:") for message in recorder.messages] == [path, path]

    spark.sql(f"CREATE TABLE called USING hudi LOCATION '{path}'")
    try:
        spark.conf.set(f"{KEY}.on", "true")
        spark.conf.set(f"{KEY}.class", NAME)
        spark.sql("UPDATE called SET n = 2")
        assert (len(recorder.messages), recorder.messages[-1].commit_action) == (3, "commit")
        spark.conf.set(f"{KEY}.class", "com.example.Unknown")
        with pytest.raises(Exception, match="Java classes are not loaded"):
            spark.sql("UPDATE called SET n = 3")
        assert spark.table("called").select("n").collect()[0].n == 2
    finally:
        spark.conf.unset(f"{KEY}.on")
        spark.conf.unset(f"{KEY}.class")
        spark.sql("DROP TABLE called")

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text('{"id": "b", "n": 5}\n')
    stream = spark.readStream.schema("id STRING, n INT").json(str(tmp_path / "in"))
    sink = stream.writeStream.format("hudi").options(**options).option("checkpointLocation", str(tmp_path / "c"))
    sink.trigger(availableNow=True).start(path).awaitTermination()
    assert (len(recorder.messages), recorder.messages[-1].write_stats[0].num_inserts) == (4, 1)


def test_a_wrong_option_leaves_no_new_table(spark: SparkSession, tmp_path: Path) -> None:
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", f"{KEY}.on": "true"}
    with pytest.raises(OptionError, match=f"set {KEY}.http.url"):
        spark.sql("SELECT 'a' AS id").write.format("hudi").options(**options).mode("append").save(str(tmp_path / "t"))
    assert not (tmp_path / "t" / ".hoodie" / "hoodie.properties").exists()
