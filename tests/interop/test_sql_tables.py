"""Tables made by pyhudi's SQL on Spark: Apache Hudi reads them and changes them, and pyhudi's SQL goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi

COLUMNS = "purchase_id, customer_id, CAST(amount AS DOUBLE) AS amount, status, purchase_date"
DEFINITION = "(purchase_id STRING, customer_id BIGINT, amount FLOAT, status STRING, purchase_date STRING)"
VERSION_6 = "'hoodie.write.table.version' = '6'"
ROWS = """
  ('purchase-1', 101, 21.5, 'COMPLETED', '2026-11-30'), ('purchase-2', 101, 123.5, 'PENDING', '2026-11-30'),
  ('purchase-3', 102, 390.25, 'PENDING', '2026-12-01'), ('purchase-4', 103, 41.5, 'COMPLETED', '2026-12-01')
"""


@pytest.mark.parametrize(
    "clauses",
    [
        "PARTITIONED BY (purchase_date) TBLPROPERTIES (primaryKey = 'purchase_id')",
        pytest.param("TBLPROPERTIES (primaryKey = 'purchase_id,purchase_date')", marks=pytest.mark.slow),
        pytest.param(
            "PARTITIONED BY (purchase_date) TBLPROPERTIES (primaryKey = 'purchase_id', preCombineField = 'amount')",
            marks=pytest.mark.slow,
        ),
        "PARTITIONED BY (status, purchase_date)",
        pytest.param(f"PARTITIONED BY (purchase_date) TBLPROPERTIES (primaryKey = 'purchase_id', {VERSION_6})", marks=pytest.mark.slow),
        f"TBLPROPERTIES (type = 'mor', primaryKey = 'purchase_id', preCombineField = 'amount', {VERSION_6})",
    ],
    ids=["partitioned", "complex_key", "ordered", "keyless", "version_6", "merge_on_read_of_version_6"],
)
def test_both_read_and_change_the_same_table(clauses: str, spark: SparkSession, reference: ReferenceHudi, tmp_path: Path) -> None:
    name, path = f"walk_{tmp_path.name[-12:]}", tmp_path / "t"
    query = f"SELECT {COLUMNS} FROM {name} ORDER BY purchase_id"

    def ours() -> list[dict[str, Any]]:
        return [row.asDict() for row in spark.sql(query).collect()]

    spark.sql(f"CREATE TABLE {name} {DEFINITION} USING hudi {clauses} LOCATION '{path}'")
    spark.sql(f"INSERT INTO {name} ({COLUMNS.replace('CAST(amount AS DOUBLE) AS amount', 'amount')}) VALUES {ROWS}")
    spark.sql(f"UPDATE {name} SET amount = amount + 1 WHERE customer_id = 101")
    spark.sql(f"DELETE FROM {name} WHERE purchase_id = 'purchase-3'")
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    assert reference.sql(query).to_pylist() == ours()
    version = "6" if VERSION_6 in clauses else "9"  # else Apache Hudi upgrades the table
    reference.sql(
        f"UPDATE {name} SET amount = amount + 2 WHERE purchase_id = 'purchase-1'",
        f"DELETE FROM {name} WHERE purchase_id = 'purchase-4'",
        conf={"hoodie.write.table.version": version},
    )
    assert reference.sql(query).to_pylist() == ours()
    spark.sql(f"UPDATE {name} SET amount = 500 WHERE amount > 100")
    columns = COLUMNS.replace("CAST(amount AS DOUBLE) AS amount", "amount")
    copied = columns.replace("purchase_id,", "'purchase-9',")
    spark.sql(f"INSERT INTO {name} ({columns}) SELECT {copied} FROM {name} WHERE purchase_id = 'purchase-1'")
    assert reference.sql(f"REFRESH TABLE {name}", query).to_pylist() == ours()  # Apache Hudi keeps the listing of its last read
    assert HudiTable.open(path).config.version == int(version)
    assert [(row["purchase_id"], row["amount"]) for row in ours()] == [("purchase-1", 24.5), ("purchase-2", 500.0), ("purchase-9", 24.5)]
