"""Two tables step by step, and what each statement leaves on disk: file groups, their slices, the timeline.

Purchases are walked through as a copy-on-write and as a merge-on-read table: an update or delete writes a new slice of the same file
group there, and a log file beside the base file here. Then follow further statements, and rides: a table of the older version 6, without
keys. `C1`, `C2`, ... stand for the instants of the commits in their order, `g1`, `g2`, ... for file groups.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi
from pyhudi.examples import program
from pyhudi.examples.console import say, session, sql, table, title


@dataclass(frozen=True)
class Walk:
    """Statements on a session, whose tables are in a folder."""

    spark: SparkSession
    folder: Path

    def __call__(self, text: str, names: Mapping[str, str] | None = None) -> None:
        """Print a statement, run it, print its answer; `names` stand for strings of this run."""
        sql(self.spark, text, names={str(self.folder): "/data", **(names or {})})


def show(spark: SparkSession, folder: Path) -> None:
    """Walk through purchases, as tables of both types, and through rides."""
    walk = Walk(spark, folder)
    title("A. Purchases, copy-on-write")
    purchases(walk, "purchase", "cow")
    title("B. The same statements, merge-on-read")
    purchases(walk, "purchase_mor", "mor")
    title("C. Further statements on the first table")
    merged(walk)
    past(walk)
    title("D. Rides, a table of version 6 without a primary key")
    rides(walk)


def purchases(walk: Walk, name: str, kind: str) -> None:
    """Create a table, fill it, update and delete, and look at its slices after each step."""
    path = walk.folder / name
    walk(f"""
        CREATE TABLE {name} (
          purchase_id STRING, customer_id BIGINT, amount FLOAT, status STRING, purchase_date STRING
        ) USING hudi
        TBLPROPERTIES (primaryKey = 'purchase_id', type = '{kind}', 'hoodie.table.cdc.enabled' = 'true')
        PARTITIONED BY (purchase_date)
        LOCATION '{path}'
        """)
    for statement in (
        f"""
        INSERT INTO {name} VALUES
          ('purchase-1', 101, 21.9, 'COMPLETED', '2026-11-30'),
          ('purchase-2', 101, 123.09, 'PENDING', '2026-11-30'),
          ('purchase-3', 102, 390.15, 'PENDING', '2026-12-01'),
          ('purchase-4', 103, 41.5, 'COMPLETED', '2026-12-01'),
          ('purchase-5', 101, 98.3, 'COMPLETED', '2026-12-01')
        """,
        f"UPDATE {name} SET status = 'COMPLETED' WHERE purchase_id = 'purchase-2'",
        f"DELETE FROM {name} WHERE purchase_id = 'purchase-3'",
    ):
        walk(statement)
        slices(path)
    walk(f"SELECT purchase_id, customer_id, amount, status, purchase_date FROM {name} ORDER BY purchase_id")
    say("The timeline:")
    timeline(path)


def merged(walk: Walk) -> None:
    """Make a table of a query, and merge a Parquet table into the first one."""
    walk("""
        CREATE TABLE purchase_summary USING hudi TBLPROPERTIES (primaryKey = 'customer_id,purchase_date') AS
        SELECT customer_id, purchase_date, ROUND(SUM(amount), 2) AS total, COUNT(*) AS purchases
        FROM purchase GROUP BY customer_id, purchase_date
        """)
    walk("SELECT customer_id, purchase_date, total, purchases FROM purchase_summary ORDER BY customer_id, purchase_date")
    walk("""
        CREATE TABLE purchase_updates USING parquet AS SELECT * FROM VALUES
          ('purchase-4', 103, FLOAT(45.0), 'RETURNED', '2026-12-01'),
          ('purchase-6', 104, FLOAT(7.5), 'COMPLETED', '2026-12-01')
          AS v(purchase_id, customer_id, amount, status, purchase_date)
        """)
    walk("""
        MERGE INTO purchase t USING purchase_updates s ON t.purchase_id = s.purchase_id
        WHEN MATCHED THEN UPDATE SET t.amount = s.amount, t.status = s.status
        WHEN NOT MATCHED THEN INSERT (purchase_id, customer_id, amount, status, purchase_date)
          VALUES (s.purchase_id, s.customer_id, s.amount, s.status, s.purchase_date)
        """)
    slices(walk.folder / "purchase")
    say("Any predicate chooses the rows of an UPDATE or a DELETE:")
    walk("UPDATE purchase SET status = 'PENDING' WHERE customer_id = 101 AND amount > 100.0")
    walk("DELETE FROM purchase WHERE status = 'PENDING' AND purchase_date BETWEEN '2026-11-01' AND '2026-11-30'")


def past(walk: Walk) -> None:
    """Read the table as it was, and what has changed."""
    completed = pyhudi.HudiTable.open(walk.folder / "purchase").history().column("completed").to_pylist()
    names = {time: f"<completion of C{number}>" for number, time in enumerate(completed, 1)}
    say("The table after its first commit, and what changed since its third:")
    walk(f"SELECT status, COUNT(*) AS purchases FROM purchase TIMESTAMP AS OF '{completed[0]}' GROUP BY status ORDER BY status", names)
    walk(f"SELECT purchase_id, status FROM hudi_table_changes('purchase', 'latest_state', '{completed[2]}') ORDER BY purchase_id", names)
    say("The table captures its changes, so that it tells what its second and third commit did:")
    walk(
        f"""
        SELECT op, get_json_object(before, '$.status') AS was, get_json_object(after, '$.status') AS became
        FROM hudi_table_changes('purchase', 'cdc', '{completed[0]}', '{completed[2]}') ORDER BY op
        """,
        names,
    )


def rides(walk: Walk) -> None:
    """Make a table of version 6; its rows get keys of their own."""
    path = walk.folder / "rides"
    walk(f"""
        CREATE TABLE rides (ts BIGINT, rider STRING, fare DOUBLE, city STRING) USING hudi
        TBLPROPERTIES ('hoodie.write.table.version' = '6')
        PARTITIONED BY (city)
        LOCATION '{path}'
        """)
    walk("""
        INSERT INTO rides VALUES
          (1695159649087, 'rider-A', 19.10, 'san_francisco'),
          (1695091554788, 'rider-C', 27.70, 'san_francisco'),
          (1695516137016, 'rider-F', 34.15, 'sao_paulo'),
          (1695115999911, 'rider-J', 17.85, 'chennai')
        """)
    walk("UPDATE rides SET fare = fare * 2 WHERE rider = 'rider-A'")
    slices(path)
    walk("SELECT city, rider, fare FROM rides ORDER BY rider")
    say("The timeline of version 6 is right below .hoodie:")
    timeline(path)


def slices(path: Path) -> None:
    """Print the file slices of a table, in the order in which they came."""
    hudi_table = pyhudi.HudiTable.open(path)
    commits = commit_names(hudi_table)
    slice_rows = sorted(hudi_table.inspect.slices().to_pylist(), key=lambda row: (row["partition_path"], row["base_instant"]))
    groups = {file_id: f"g{number}" for number, file_id in enumerate(dict.fromkeys(row["file_id"] for row in slice_rows), 1)}
    table(
        ["partition", "group", "base file of", "log files", "current"],
        [
            [
                row["partition_path"],
                groups[row["file_id"]],
                commits[row["base_instant"]],
                len(row["log_files"]),
                "yes" if row["latest"] else "",
            ]
            for row in slice_rows
        ],
    )


def timeline(path: Path) -> None:
    """Print the instants of a table and the files that stand for them."""
    hudi_table = pyhudi.HudiTable.open(path)
    commits = commit_names(hudi_table)
    folder = path / ".hoodie" / "timeline"
    files = sorted((folder if folder.is_dir() else path / ".hoodie").glob("2*"))
    rows = []
    for row in hudi_table.history().to_pylist():
        files_of_instant = [file.name for file in files if file.name.startswith(str(row["requested"]))]
        named = [masked(name, {**commits, str(row["completed"]): "end"}) for name in files_of_instant]
        rows.append([commits[str(row["requested"])], row["action"], row["operation"], "  ".join(sorted(named, key=len))])
    table(["commit", "action", "operation", "files"], rows)


def commit_names(hudi_table: pyhudi.HudiTable) -> dict[str, str]:
    """Return short names of a table's instants."""
    return {str(time): f"C{number}" for number, time in enumerate(hudi_table.history().column("requested").to_pylist(), 1)}


def masked(text: str, names: dict[str, str]) -> str:
    """Return a text with short names in the places of instants."""
    for long, short in names.items():
        text = text.replace(long, short)
    return text


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""

    def with_spark(folder: Path) -> None:
        spark = session("pyhudi table_lifecycle", folder)
        try:
            show(spark, folder)
        finally:
            spark.stop()

    return program.run("table_lifecycle", with_spark, arguments)


if __name__ == "__main__":
    sys.exit(main())
