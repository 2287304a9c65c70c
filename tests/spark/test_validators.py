"""SQL pre-commit validators on Spark: queries run in the session, for DataFrames and SQL, by each engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi.errors import OptionError, ValidationError

KEY = "hoodie.precommit.validators"
SINGLE = f"{KEY}.single.value.sql.queries"


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_queries_of_a_dataframe_write_run_in_the_session(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    path = str(tmp_path / "t")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "pyhudi.engine": engine,
        KEY: "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator",
        # A function that Spark has and DuckDB has not.
        SINGLE: "SELECT count_if(n < 0) FROM <TABLE_NAME>#0; SELECT collect_set(n % 1)[0] FROM <TABLE_NAME>#0",
    }

    def write(query: str, **more: str) -> None:
        spark.sql(query).write.format("hudi").options(**options | more).mode("append").save(path)

    write("SELECT 'a' AS id, 1 AS n")
    with pytest.raises(ValidationError, match="has the answer 1, expected was 0"):
        write("SELECT 'b' AS id, -1 AS n")
    with pytest.raises(OptionError, match="the query 'SELECT nothing FROM <TABLE_NAME>' failed") as failed:
        write("SELECT 'b' AS id, 1 AS n", **{SINGLE: "SELECT nothing FROM <TABLE_NAME>#0"})
    assert "pyhudi_rows" not in str(failed.value)
    assert [tuple(row) for row in spark.read.format("hudi").load(path).select("id", "n").collect()] == [("a", 1)]
    assert not [view.name for view in spark.catalog.listTables() if view.name.startswith("pyhudi_rows")]


def test_settings_of_a_session_validate_sql(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE validated (id STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{tmp_path / 'v'}'")
    try:
        spark.sql(f"SET {KEY} = org.apache.hudi.client.validator.SqlQueryEqualityPreCommitValidator")
        spark.conf.set(f"{KEY}.equality.sql.queries", "SELECT count(*) FROM <TABLE_NAME> WHERE n < 0")
        spark.sql("INSERT INTO validated VALUES ('a', 1)")
        with pytest.raises(ValidationError, match=r"Before it: \(0,\); after it: \(1,\)"):
            spark.sql("UPDATE validated SET n = -1 WHERE id = 'a'")
        assert spark.table("validated").select("n").collect()[0].n == 1
    finally:
        spark.conf.unset(KEY)
        spark.conf.unset(f"{KEY}.equality.sql.queries")
        spark.sql("DROP TABLE validated")
