"""Wrong calls of the procedures of table services: one typed error that names what is wrong, and nothing of the table changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError
from tests.unit.service.test_bad_input import AT

pytestmark = pytest.mark.spark

#: The call, and words of the message; `{first}` is the oldest commit, which was cleaned, `{last}` the latest one, with a savepoint.
MISUSES = [
    ("run_clean(table => 'rides', retain_commits => 0)", "hoodie.clean.commits.retained"),
    ("run_clean(table => 'rides', retain_commits => -1)", "hoodie.clean.commits.retained"),
    ("run_clean(table => 'rides', clean_policy => 'KEEP_ALL')", "KEEP_ALL"),
    ("run_clean(table => 'rides', options => 'hoodie.clean.hours.retained=0')", "hoodie.clean.hours.retained"),
    ("run_clean(table => 'rides', options => 'hoodie.clean.comits.retained=3')", "hoodie.clean.comits.retained"),
    ("archive_commits(table => 'rides', min_commits => 0, max_commits => 2)", "0"),
    ("archive_commits(table => 'rides', min_commits => 5, max_commits => 2)", "min_commits is 5"),
    ("run_ttl(table => 'rides', retain_days => 0)", "days.retain"),
    ("run_ttl(table => 'rides', retain_days => -3)", "days.retain"),
    ("run_ttl(table => 'rides', retain_days => 1, ttl_policy => 'KEEP_BY_LUCK')", "KEEP_BY_LUCK"),
    ("run_clustering(table => 'rides', order => 'fair')", "fair"),
    ("run_clustering(table => 'rides', order => 'v', order_strategy => 'circle')", "circle"),
    ("run_clustering(table => 'rides', options => 'hoodie.clustering.plan.strategy.class=com.acme.X')", "com.acme.X"),
    ("run_clustering(table => 'rides', options => 'hoodie.clustering.execution.strategy.class=com.acme.X')", "com.acme.X"),
    ("run_clustering(table => 'rides', op => 'perform')", "perform"),
    ("run_clustering(table => 'rides', predicate => 'colour = 1')", "colour"),
    ("run_compaction(op => 'run', table => 'rides', options => 'hoodie.compaction.strategy=com.acme.X')", "com.acme.X"),
    ("run_compaction(op => 'perform', table => 'rides')", "perform"),
    ("create_savepoint(table => 'rides', commit_time => '{first}')", "{first}"),
    ("create_savepoint(table => 'rides', commit_time => 'yesterday')", "yesterday"),
    ("delete_savepoint(table => 'rides', instant_time => '{first}')", "{first}"),
    ("rollback_to_savepoint(table => 'rides', instant_time => '{first}')", "{first}"),
    ("rollback_to_instant(table => 'rides', instant_time => '{last}')", "savepoint"),
    ("rollback_to_instant(table => 'rides', instant_time => '20200101000000000')", "20200101000000000"),
    ("restore_to_instant(table => 'rides', instant_time => '{first}')", "{first}"),
    ("restore_to_instant(table => 'rides', instant_time => 'yesterday')", "yesterday"),
    ("repair_clustering_plan(table => 'rides', instant => '{first}', validation_parallelism => 0)", "validation_parallelism is 0"),
    ("show_invalid_parquet(path => 'x', parallelism => 0)", "parallelism is 0"),
    ("downgrade_table(table => 'rides', to_version => 'SEVEN')", "SEVEN"),
    ("downgrade_table(table => 'rides', to_version => 'TEN')", "TEN"),
    ("upgrade_table(table => 'rides', to_version => 'SIX')", "downgrade"),
    ("repair_deduplicate(table => 'rides', duplicated_partition_path => 'nowhere', repaired_output_path => '/nowhere/x')", "nowhere"),
    ("repair_overwrite_hoodie_props(table => 'rides', new_props_file_path => '/nowhere/x.properties')", "/nowhere/x.properties"),
]
#: A statement that finds the plan of an action.
FINDERS = {
    "clean": "CALL run_clean(table => 'rides')",
    "clustering": "CALL run_clustering(table => 'rides', op => 'execute')",
    "rollback": "INSERT INTO rides VALUES (3, 1, 'oslo')",
}


KEYED = "TBLPROPERTIES (primaryKey = 'id')"


@pytest.fixture(scope="module")
def rides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("rides") / "t"
    spark.sql("DROP TABLE IF EXISTS rides")
    spark.sql(
        f"CREATE TABLE rides (id INT, v INT, city STRING) USING hudi PARTITIONED BY (city) LOCATION '{path}' OPTIONS (primaryKey='id')"
    )
    for number in range(4):
        spark.sql(f"INSERT INTO rides VALUES (1, {number}, 'oslo'), (2, {number}, 'rome')")
    table = HudiTable.open(path)
    table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    table.services.savepoint()
    yield path
    spark.sql("DROP TABLE IF EXISTS rides")


def contents(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file() and ".locks" not in file.parts}


@pytest.mark.parametrize(("call", "words"), MISUSES, ids=[call for call, _ in MISUSES])
def test_a_wrong_call_is_refused_by_name_and_changes_nothing(spark: SparkSession, rides: Path, call: str, words: str) -> None:
    commits = [row["requested"] for row in HudiTable.open(rides).history().to_pylist() if row["action"] == "commit"]
    names, before = {"first": commits[0], "last": commits[-1]}, contents(rides)
    with pytest.raises(HudiError) as raised:
        spark.sql(f"CALL {call.format(**names)}")
    assert words.format(**names) in str(raised.value)
    assert contents(rides) == before


@pytest.mark.parametrize("action", FINDERS)
def test_a_damaged_plan_is_named_and_changes_nothing(spark: SparkSession, rides: Path, action: str) -> None:
    plan = rides / ".hoodie/timeline" / f"{AT}.{action}.requested"
    plan.write_bytes(b"no plan")
    try:
        before = contents(rides)
        with pytest.raises(CorruptTableError, match=plan.name):
            spark.sql(FINDERS[action])
        assert contents(rides) == before
    finally:
        plan.unlink()
