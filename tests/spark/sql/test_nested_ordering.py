"""SQL on tables ordered by a field inside a struct. Apache Hudi refuses MERGE there (differences.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_statements_order_by_a_field_in_a_struct(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        f"CREATE TABLE nested_{kind} (id BIGINT, v STRING, meta STRUCT<src: STRING, ts: BIGINT>) USING hudi LOCATION '{tmp_path / 't'}' "
        f"TBLPROPERTIES (type = '{kind}', primaryKey = 'id', orderingFields = 'meta.ts')"
    )

    def run(statement: str) -> dict[int, str]:
        spark.sql(statement.format(f"nested_{kind}"))
        return {row["id"]: row["v"] for row in spark.table(f"nested_{kind}").select("id", "v").collect()}

    def merged(v: str, ts: int) -> str:
        source = f"SELECT 1L id, '{v}' v, named_struct('src', 's', 'ts', {ts}L) meta"
        return f"MERGE INTO {{0}} t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

    first = "INSERT INTO {0} VALUES (1, 'a', named_struct('src', 's', 'ts', 5L)), (2, 'b', named_struct('src', 's', 'ts', 5L))"
    assert run(first) == {1: "a", 2: "b"}
    assert run(merged("late", 4)) == {1: "a", 2: "b"}
    assert run(merged("new", 7)) == {1: "new", 2: "b"}
    assert run("UPDATE {0} SET v = 'u' WHERE meta.ts = 7") == {1: "u", 2: "b"}
    assert run("UPDATE {0} SET v = 'w', meta = named_struct('src', 's', 'ts', 9L) WHERE id = 2") == {1: "u", 2: "w"}
    assert run("DELETE FROM {0} WHERE id = 1") == {2: "w"}
    spark.sql(f"DROP TABLE nested_{kind}")
