"""`python -m pyhudi cluster`."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})
CONSISTENT_HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "1",
}
SPLIT = ["--option", "hoodie.bucket.index.max.num.buckets=2", "--option", "hoodie.parquet.max.file.size=1"]


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    table.upsert([{"id": number, "value": 1} for number in range(6)], options=CONSISTENT_HASHING)
    return table


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["cluster", *arguments])


def test_buckets_are_resized_and_the_result_is_told(table) -> None:
    assert "clustering planned: 1 buckets split" in run(table.storage.uri, *SPLIT, "--dry-run").output
    result = run(table.storage.uri, *SPLIT, "--threads", "1", "--progress")
    assert result.exit_code == 0
    assert "1 buckets split, 0 merged, in 1 partitions; 6 rows in 2 files" in result.output
    assert run(table.storage.uri, *SPLIT).output == "nothing to cluster\n"


def test_json_has_one_object_for_each_clustering(table) -> None:
    planned = json.loads(run(table.storage.uri, *SPLIT, "--mode", "schedule", "--json").output)
    assert (planned["state"], planned["splits"]) == ("requested", 1)
    done = json.loads(run(table.storage.uri, "--instant", planned["instant"], "--json").output)
    assert (done["state"], done["instant"], done["rows"]) == ("completed", planned["instant"], 6)


def test_a_table_without_consistent_hashing_is_rewritten_and_not_resized(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    assert run(str(tmp_path / "t")).output == "nothing to cluster\n"
    for number in range(2):
        table.insert([{"id": number, "value": 0}], {"hoodie.parquet.small.file.limit": "0"})
    resize = ("--option", "hoodie.clustering.plan.strategy.class=SparkConsistentBucketClusteringPlanStrategy")
    result = run(str(tmp_path / "t"), *resize)
    assert result.exit_code == 1
    assert "not laid out by consistent hashing" in result.output
    assert "2 slices in 1 groups of 1 partitions; 2 rows in 1 files" in run(str(tmp_path / "t"), "--sort-columns", "id").output
    assert run(str(tmp_path / "t"), "--sort-columns", "name").exit_code == 2
