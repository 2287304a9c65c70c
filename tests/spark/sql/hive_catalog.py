"""A session with Spark's Hive catalog (Derby, in the current folder), run by `test_hive_catalog.py`.

`first` makes tables, `second` finds them. Writes what it saw as one line of JSON.
A process of its own: a JVM has one catalog, and Derby lets one process in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

import pyhudi
from tests.spark.conftest import SETTINGS

Ask = Callable[[str], list[list[Any]]]


def first(run_sql: Ask) -> dict[str, Any]:
    """Define, fill and change tables in two databases."""
    run_sql("CREATE DATABASE sales")
    columns = "(Id INT, name STRING, amount DOUBLE, day STRING)"
    run_sql(f"CREATE TABLE sales.orders {columns} USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'Id')")
    run_sql("INSERT INTO sales.orders VALUES (1, 'ann', 1.5, 'mon'), (2, 'bob', 2.5, 'tue'), (3, 'cid', 3.5, 'tue')")
    run_sql("UPDATE sales.orders SET amount = 10 WHERE id = 1")
    run_sql("DELETE FROM sales.orders WHERE id = 3")
    run_sql("CREATE TABLE copied USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor') AS SELECT id, name FROM sales.orders")
    run_sql("MERGE INTO copied USING (SELECT 2 AS id, 'bea' AS name) s ON copied.id = s.id WHEN MATCHED THEN UPDATE SET *")
    run_sql("ALTER TABLE sales.orders ADD COLUMNS (note STRING COMMENT 'free text')")
    run_sql("INSERT INTO sales.orders VALUES (4, 'dee', 4, 'new', 'wed')")
    run_sql("CREATE VIEW sales.dear AS SELECT id, amount FROM sales.orders WHERE amount > 3")
    run_sql("CREATE TABLE gone (id INT) USING hudi")
    run_sql("DROP TABLE gone")
    run_sql("CREATE TABLE old_name (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    run_sql("ALTER TABLE old_name RENAME TO new_name")
    run_sql("INSERT INTO new_name VALUES (1)")
    return {"tables": run_sql("SHOW TABLES"), "partitions": run_sql("SHOW PARTITIONS sales.orders")}


def second(run_sql: Ask) -> dict[str, Any]:
    """Find in a new session what the first one made, and go on."""
    answers = {
        "orders": run_sql("SELECT Id, name, amount, note, day FROM sales.orders ORDER BY id"),
        "copied": run_sql("SELECT id, name FROM copied ORDER BY id"),
        "view": run_sql("SELECT * FROM sales.dear ORDER BY id"),
        "described": run_sql("DESCRIBE sales.orders")[5:],
        "databases": run_sql("SHOW DATABASES"),
        "sales": run_sql("SHOW TABLES IN sales"),
        "renamed": run_sql("SELECT id FROM new_name"),
        "created": "USING hudi" in run_sql("SHOW CREATE TABLE sales.orders")[0][0],
    }
    run_sql("USE sales")
    run_sql("INSERT INTO orders VALUES (5, 'eve', 5, NULL, 'wed')")
    run_sql("ALTER TABLE orders DROP PARTITION (day = 'mon')")
    answers["changed"] = run_sql("SELECT id FROM dear ORDER BY id")
    run_sql("DROP DATABASE sales CASCADE")
    answers["left"] = run_sql("SHOW DATABASES")
    return answers


def main(part: str) -> None:
    builder = SparkSession.builder.master("local[1]").appName(f"hive {part}").config(map=SETTINGS).enableHiveSupport()  # type: ignore[arg-type]
    session = pyhudi.enable(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    assert session.conf.get("spark.sql.catalogImplementation") == "hive"
    answer = {"first": first, "second": second}[part](lambda text: [list(row) for row in session.sql(text).collect()])
    session.stop()
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
