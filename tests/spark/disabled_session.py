"""A driver of its own that enables and disables sessions, and prints as JSON what it saw; run by `test_disable.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, DataFrameWriterV2, SparkSession
from pyspark.sql.catalog import Catalog
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.merge import MergeIntoWriter
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

import pyhudi
from tests.spark.conftest import SETTINGS

OWNERS = (
    SparkSession,
    SparkSession.Builder,
    DataFrame,
    ClassicDataFrame,
    DataFrameReader,
    DataFrameWriter,
    DataFrameWriterV2,
    MergeIntoWriter,
    MergeIntoWriter.WhenMatched,
    MergeIntoWriter.WhenNotMatched,
    MergeIntoWriter.WhenNotMatchedBySource,
    Catalog,
    DataStreamReader,
    DataStreamWriter,
    captured,
)


#: What Spark itself notes in its class.
SPARKS = {"_activeSession", "_instantiatedSession"}


def state() -> list[dict[str, Any]]:
    return [{name: value for name, value in vars(owner).items() if name not in SPARKS} for owner in OWNERS]


def changed(before: list[dict[str, Any]]) -> list[str]:
    """Return the names that are not what they were."""
    removed = object()
    pairs = zip(before, state(), strict=True)
    return sorted({name for old, new in pairs for name in old.keys() | new.keys() if old.get(name, removed) is not new.get(name, removed)})


def answer(session: SparkSession) -> str:
    try:
        return str(session.table("t").count())
    except Exception as error:  # noqa: BLE001 - of Spark's or ours, as it comes
        return next((text for text in ("does not speak Hudi any more",) if text in str(error)), repr(error))


def main(folder: Path) -> None:
    before = state()
    states: dict[str, Any] = {}
    builder = pyhudi.enable(SparkSession.builder.master("local[1]").config(map=SETTINGS))  # type: ignore[arg-type]
    one = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
    one.sparkContext.setLogLevel("OFF")
    states["workers"] = [one.sparkContext.pythonExec == sys.executable]
    one.sql("CREATE TABLE t (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    one.sql("INSERT INTO t VALUES (1)")
    other = one.newSession()
    states["patched"] = {"sql", "load", "save", "convert_exception", "getOrCreate", "toTable"} <= set(changed(before))
    states["with another left"] = [pyhudi.disable(one) is one, answer(one), answer(other)]
    other.sql("INSERT INTO t VALUES (2)")
    states["twice"] = [pyhudi.disable(one) is one, answer(one), answer(other)]
    pyhudi.disable(other)
    states["unpatched"] = changed(before)
    states["workers"].append(one.sparkContext.pythonExec)
    states["none left"] = [answer(one), answer(other), one.sql("SELECT 1").head(1)[0][0]]
    pyhudi.enable(one).sql("INSERT INTO t VALUES (3)")
    states["enabled again"] = [answer(one), answer(other)]
    pyhudi.disable(one)
    pyhudi.disable(builder)
    one.stop()
    states["after stop"] = [pyhudi.disable(one) is one, changed(before)]
    print(json.dumps(states))  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main(Path(sys.argv[1]))
