"""Both engines give the same rows for snapshot, time travel, incremental reads and change data, at every instant of a table's life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.spec.table.cdc_mode import logging_mode
from pyhudi.timeline.load_timeline import load_timeline
from tests.histories import EVERY, Shape, each_once, lived
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

Options = dict[str, str]
QUERY = "hoodie.datasource.query."
READ = "hoodie.datasource.read."
#: Plans pending, archived behind lagging cleans, upgraded, downgraded, completed out of order.
LIVES = ["lagging_v6", "pending_clustering_v6", "pending_compaction_v6", "upgraded_v9", "downgraded_v6", "concurrent_v8", "concurrent_v9"]


def on_spark(spark: SparkSession, path: Path, **options: str) -> pa.Table:
    given = {key.replace("__", "."): value for key, value in options.items()}
    return spark.read.format("hudi").options(**given).load(str(path)).toArrow()


def counted(rows: pa.Table, columns: list[str]) -> Counter[str]:
    return Counter(map(repr, rows.select(columns).to_pylist()))


def times_of(table: HudiTable) -> list[str]:
    """The time of each write: when it completed, in version 6 when it was requested."""
    timeline = load_timeline(table.storage, table.config)
    data = timeline.data_instants()
    return sorted(one.requested if timeline.layout == 1 else one.completed or one.requested for one in data)


def both(spark: SparkSession, path: Path, table: HudiTable) -> Iterator[tuple[str, pa.Table, pa.Table]]:
    """Each way to ask for rows, with the answers of Spark and of the local engine."""
    yield "snapshot", on_spark(spark, path), table.to_arrow(meta_columns=True)
    times = times_of(table)
    for time in times:
        yield f"as of {time}", on_spark(spark, path, as__of__instant=time), table.to_arrow(as_of=time, meta_columns=True)
    for since, until in [("000", times[-1]), *pairwise(times)]:
        span = {QUERY + "type": "incremental", READ + "begin.instanttime": since, READ + "end.instanttime": until}
        begin = None if since == "000" else since
        yield f"changes {since} {until}", on_spark(spark, path, **span), table.changes(begin, until, meta_columns=True)
        if logging_mode(table.config) is not None:
            captured = span | {QUERY + "incremental.format": "cdc"}
            yield f"change data {since} {until}", on_spark(spark, path, **captured), table.changes(begin, until, format="cdc")


def assert_same(spark: SparkSession, path: Path) -> None:
    for query, result, expected in both(spark, path, HudiTable.open(path)):
        assert set(result.column_names) == set(expected.column_names), query
        assert counted(result, expected.column_names) == counted(expected, expected.column_names), query


@pytest.mark.parametrize("name", slow_cases(LIVES, {"pending_compaction_v6", "concurrent_v8"}))
def test_both_engines_give_every_state_of_tables_of_apache_hudi(
    spark: SparkSession, name: str, fixture_table: Callable[[str], Path]
) -> None:
    path = fixture_table(f"apache_hudi/merge_on_read_{name}")
    if "lagging" in name:
        table = HudiTable.open(path)  # earlier times were cleaned
        assert counted(on_spark(spark, path), table.schema.names) == counted(table.to_arrow(), table.schema.names)
    else:
        assert_same(spark, path)


@pytest.mark.parametrize("shape", slow_cases(EVERY, set(EVERY) - set(each_once())), ids=str)
def test_both_engines_give_every_state_of_every_shape(spark: SparkSession, shape: Shape, tmp_path: Path) -> None:
    lived(tmp_path / "t", shape, steps=4, captured=True)
    assert_same(spark, tmp_path / "t")
