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


def first(ask: Ask) -> dict[str, Any]:
    """Define, fill and change tables in two databases."""
    ask("CREATE DATABASE sales")
    columns = "(Id INT, name STRING, amount DOUBLE, day STRING)"
    ask(f"CREATE TABLE sales.orders {columns} USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'Id')")
    ask("INSERT INTO sales.orders VALUES (1, 'ann', 1.5, 'mon'), (2, 'bob', 2.5, 'tue'), (3, 'cid', 3.5, 'tue')")
    ask("UPDATE sales.orders SET amount = 10 WHERE id = 1")
    ask("DELETE FROM sales.orders WHERE id = 3")
    ask("CREATE TABLE copied USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor') AS SELECT id, name FROM sales.orders")
    ask("MERGE INTO copied USING (SELECT 2 AS id, 'bea' AS name) s ON copied.id = s.id WHEN MATCHED THEN UPDATE SET *")
    ask("ALTER TABLE sales.orders ADD COLUMNS (note STRING COMMENT 'free text')")
    ask("INSERT INTO sales.orders VALUES (4, 'dee', 4, 'new', 'wed')")
    ask("CREATE VIEW sales.dear AS SELECT id, amount FROM sales.orders WHERE amount > 3")
    ask("CREATE TABLE gone (id INT) USING hudi")
    ask("DROP TABLE gone")
    ask("CREATE TABLE old_name (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    ask("ALTER TABLE old_name RENAME TO new_name")
    ask("INSERT INTO new_name VALUES (1)")
    return {"tables": ask("SHOW TABLES"), "partitions": ask("SHOW PARTITIONS sales.orders")}


def second(ask: Ask) -> dict[str, Any]:
    """Find in a new session what the first one made, and go on."""
    seen = {
        "orders": ask("SELECT Id, name, amount, note, day FROM sales.orders ORDER BY id"),
        "copied": ask("SELECT id, name FROM copied ORDER BY id"),
        "view": ask("SELECT * FROM sales.dear ORDER BY id"),
        "described": ask("DESCRIBE sales.orders")[5:],
        "databases": ask("SHOW DATABASES"),
        "sales": ask("SHOW TABLES IN sales"),
        "renamed": ask("SELECT id FROM new_name"),
        "created": "USING hudi" in ask("SHOW CREATE TABLE sales.orders")[0][0],
    }
    ask("USE sales")
    ask("INSERT INTO orders VALUES (5, 'eve', 5, NULL, 'wed')")
    ask("ALTER TABLE orders DROP PARTITION (day = 'mon')")
    seen["changed"] = ask("SELECT id FROM dear ORDER BY id")
    ask("DROP DATABASE sales CASCADE")
    seen["left"] = ask("SHOW DATABASES")
    return seen


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
