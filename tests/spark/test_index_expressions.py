"""Functions of expression indexes give what Spark's functions give."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its customary name

from pyhudi.metadata_table.format.index_expressions import Expression
from tests.not_none import not_none

TEXTS = ["", " a b ", "ÄÖß", "ΟΔΟΣ", "İstanbul", "ﬀ", "\U00010400x", "ABC\t", None, "  x", "naïve"]
DAYS = [date(2024, 2, 29), date(1969, 12, 31), date(1582, 10, 15), None, date(9999, 12, 31), date(1000, 1, 1), date(2026, 12, 31)]
MOMENTS = [datetime(2026, 3, 29, hour, 59, 59, 999_999, tzinfo=UTC) + timedelta(days=91 * hour) for hour in range(8)] + [None]
#: Years of four digits, and of fewer, more and none.
SECONDS = [0, -1, 1_700_000_000, None, 4_102_444_799, -40_000_000_000, -62_135_500_000, -62_200_000_000, -70_000_000_000, 253_402_400_000]
ZONE = "Europe/Berlin"

CASES: list[tuple[str, dict[str, str], Any, pa.DataType, Any]] = [
    *((name, {}, TEXTS, pa.string(), getattr(F, name)) for name in ("lower", "upper", "trim", "ltrim", "rtrim", "length")),
    ("substring", {"pos": "2", "len": "3"}, TEXTS, pa.string(), lambda column: F.substring(column, 2, 3)),
    *((name, {}, DAYS, pa.date32(), function) for name, function in (("year", F.year), ("month", F.month), ("day", F.dayofmonth))),
    ("date_add", {"days": "31"}, DAYS[:4], pa.date32(), lambda column: F.date_add(column, 31)),
    ("date_sub", {"days": "31"}, DAYS[:4], pa.date32(), lambda column: F.date_sub(column, 31)),
    ("date_format", {"format": "yyyy-MM-dd"}, DAYS, pa.date32(), lambda column: F.date_format(column, "yyyy-MM-dd")),
    *((name, {}, MOMENTS, pa.timestamp("us", "UTC"), getattr(F, name)) for name in ("year", "month", "hour")),
    (
        "date_format",
        {"format": "dd.MM.yyyy HH:mm:ss"},
        MOMENTS,
        pa.timestamp("us", "UTC"),
        lambda column: F.date_format(column, "dd.MM.yyyy HH:mm:ss"),
    ),
    ("from_unixtime", {}, SECONDS, pa.int64(), F.from_unixtime),
    ("from_unixtime", {"format": "yyyy/MM"}, SECONDS, pa.int64(), lambda column: F.from_unixtime(column, "yyyy/MM")),
]


def test_each_function_gives_what_spark_gives(spark: SparkSession) -> None:
    width = max(len(values) for _, _, values, _, _ in CASES)
    columns = {
        f"c{index}": pa.array([*values, *[None] * (width - len(values))], kind) for index, (_, _, values, kind, _) in enumerate(CASES)
    }
    before = not_none(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    try:
        frame = spark.createDataFrame(pa.table(columns))
        theirs = frame.select(*(function(f"c{index}").alias(f"c{index}") for index, (*_, function) in enumerate(CASES))).toArrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    for index, (name, options, *_) in enumerate(CASES):
        ours = Expression(name, {**options, "timeZone": ZONE}).of_column(columns[f"c{index}"])
        assert ours is not None
        assert ours.to_pylist() == theirs.column(index).to_pylist(), name
