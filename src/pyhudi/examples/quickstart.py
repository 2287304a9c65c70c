"""The first hour with pyhudi in one run: three Hudi tables made, changed, read and looked at with Spark SQL.

    python -m pyhudi.examples.quickstart [FOLDER]

The tables stay in FOLDER (`quickstart-table` unless you say otherwise) to be looked at; the next run begins again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi
from pyhudi.examples import flights
from pyhudi.examples.console import HISTORY, arrow, say, session, sql, timed, title, tree
from pyhudi.examples.workspace import recreate_folder

_SLICES = ("partition_path", "file_id", "base_instant", "latest", "base_bytes")
_MARK = ".made-by-pyhudi-quickstart"
_EVERY_PURCHASE = """
SELECT purchase_id, customer_id, amount, status, purchase_date
FROM purchase
ORDER BY purchase_id
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the example; 0 when all went well."""
    parser = argparse.ArgumentParser(description="Create, fill, change and read Hudi tables with Spark SQL.")
    parser.add_argument("folder", nargs="?", default="quickstart-table", type=Path, help="where the tables shall stand")
    folder = parser.parse_args(arguments).folder.resolve()
    if not recreate_folder(folder, _MARK):
        print(f"{folder} exists and was not made by this program: name another folder.", file=sys.stderr)
        return 1
    with timed("Spark started"):
        spark = session("pyhudi quickstart", folder)
    try:
        _purchases(spark, folder / "purchase")
        _rides(spark, folder / "spark_hudi_table")
        flights.show(spark, folder)
    finally:
        spark.stop()
    _what_next(folder)
    return 0


def _purchases(spark: SparkSession, path: Path) -> None:
    title("1. Purchases: a small table from CREATE to SELECT")
    sql(
        spark,
        f"""
        CREATE TABLE purchase (
          purchase_id STRING, customer_id BIGINT, amount FLOAT, status STRING, purchase_date STRING
        ) USING HUDI
        TBLPROPERTIES (primaryKey = 'purchase_id')
        PARTITIONED BY (purchase_date)
        LOCATION '{path}'
        """,
    )
    sql(
        spark,
        """
        INSERT INTO purchase VALUES
          ('purchase-1', 101, 21.9, 'COMPLETED', '2026-11-30'),
          ('purchase-2', 101, 123.09, 'PENDING', '2026-11-30'),
          ('purchase-3', 102, 390.15, 'PENDING', '2026-12-01'),
          ('purchase-4', 103, 41.5, 'COMPLETED', '2026-12-01'),
          ('purchase-5', 101, 98.3, 'COMPLETED', '2026-12-01')
        """,
    )
    sql(spark, "UPDATE purchase SET status = 'COMPLETED' WHERE purchase_id = 'purchase-2'")
    sql(spark, "DELETE FROM purchase WHERE purchase_id = 'purchase-3'")
    sql(spark, _EVERY_PURCHASE)
    sql(spark, "SELECT purchase_id, amount FROM purchase WHERE purchase_date = '2026-12-01' ORDER BY amount")
    _layout(path)
    say("The same table as it was after its first commit:")
    first = pyhudi.HudiTable.open(str(path)).history().sort_by("requested").to_pylist()[0]
    sql(spark, _EVERY_PURCHASE.replace("purchase\n", f"purchase TIMESTAMP AS OF '{first['completed']}'\n"))
    say("Any predicate that Spark can evaluate chooses the rows of an UPDATE or a DELETE:")
    sql(spark, "UPDATE purchase SET status = 'PENDING' WHERE customer_id = 101 AND amount > 100.0")
    sql(
        spark,
        """
        DELETE FROM purchase
        WHERE status = 'PENDING' AND purchase_date BETWEEN '2026-11-01' AND '2026-11-30'
        """,
    )
    sql(spark, _EVERY_PURCHASE)


def _layout(path: Path) -> None:
    """Print timeline, slices and files of a table; no Spark is asked."""
    hudi_table = pyhudi.HudiTable.open(str(path))
    say("Its timeline: one commit for each statement that changed rows.")
    arrow(hudi_table.history(), HISTORY)
    say("Its file slices: an update or delete writes a new slice of the same file group and leaves the old one to readers.")
    arrow(hudi_table.inspect.slices(), _SLICES)
    say("And what is on disk:")
    tree(path)


def _rides(spark: SparkSession, path: Path) -> None:
    title("2. Rides: a table without a primary key")
    say("Rows of such a table get keys of their own, and UPDATE and DELETE work on it all the same.")
    sql(
        spark,
        f"""
        CREATE TABLE spark_hudi_table (
          ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING
        ) USING HUDI
        PARTITIONED BY (city)
        LOCATION '{path}'
        """,
    )
    sql(
        spark,
        """
        INSERT INTO spark_hudi_table VALUES
          (1695159649087, '334e26e9-8355-45cc-97c6-c31daf0df330', 'rider-A', 'driver-K', 19.10, 'san_francisco'),
          (1695091554788, 'e96c4396-3fad-413a-a942-4cb36106d721', 'rider-C', 'driver-M', 27.70, 'san_francisco'),
          (1695046462179, '9909a8b1-2d15-4d3d-8ec9-efc48c536a00', 'rider-D', 'driver-L', 33.90, 'san_francisco'),
          (1695332066204, '1dced545-862b-4ceb-8b43-d2a568f6616b', 'rider-E', 'driver-O', 93.50, 'san_francisco'),
          (1695516137016, 'e3cf430c-889d-4015-bc98-59bdce1e530c', 'rider-F', 'driver-P', 34.15, 'sao_paulo'),
          (1695376420876, '7a84095f-737f-40bc-b62f-6b69664712d2', 'rider-G', 'driver-Q', 43.40, 'sao_paulo'),
          (1695173887231, '3eeb61f7-c2b0-4636-99bd-5d7a5a1d2c04', 'rider-I', 'driver-S', 41.06, 'chennai'),
          (1695115999911, 'c8abbe79-8d89-47ea-b4ce-4d224bae5bfa', 'rider-J', 'driver-T', 17.85, 'chennai')
        """,
    )
    sql(spark, "UPDATE spark_hudi_table SET fare = fare * 2 WHERE rider IN ('rider-A', 'rider-J')")
    sql(
        spark,
        "SELECT city, COUNT(*) AS rides, ROUND(SUM(fare), 2) AS fares FROM spark_hudi_table GROUP BY city ORDER BY city",
    )
    sql(spark, "SHOW PARTITIONS spark_hudi_table")


def _what_next(folder: Path) -> None:
    title("The tables are yours to look at")
    print(f"""
  {folder}

  In Python, without Spark:

    import pyhudi
    table = pyhudi.HudiTable.open("{folder / "flights"}")
    table.history()                                  # the timeline
    table.inspect.slices()                           # which file holds what
    table.to_arrow(columns=["origin", "dest"], filter="month = 7")

  In Spark:

    spark = pyhudi.enable(SparkSession.builder).getOrCreate()
    spark.read.format("hudi").load("{folder / "flights"}").show()
    spark.sql("CREATE TABLE flights USING hudi LOCATION '{folder / "flights"}'")
""")


if __name__ == "__main__":
    sys.exit(main())
