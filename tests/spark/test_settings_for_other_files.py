"""Settings of a session about Parquet files in general change no rows of a Hudi table."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "day": pa.date32()})
SETTINGS = {
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "parquet.page.verify-checksum.enabled": "false",
}
OLD = datetime.date(1500, 1, 1)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


def table_of(folder: Path, kind: str) -> HudiTable:
    table = HudiTable.create(folder, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=kind)
    table.insert([{"id": number, "city": city, "day": OLD} for number, city in enumerate(("oslo", "rome"))])
    return table


def base_file(folder: Path) -> Path:
    return next((folder / "oslo").glob("*.parquet"))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_of_damaged_and_missing_files_are_not_left_out(session: SparkSession, tmp_path: Path, kind: str) -> None:
    table = table_of(tmp_path / "t", kind)
    if kind == "MERGE_ON_READ":
        table.upsert([{"id": 1, "city": "rome", "day": OLD}])
    frame = session.read.format("hudi").load(str(tmp_path / "t"))
    assert [row.day for row in frame.select("day").collect()] == [OLD, OLD]
    file = base_file(tmp_path / "t")
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], bytes([*content[:40], content[40] ^ 255, *content[41:]])):
        file.write_bytes(damaged)
        with pytest.raises(HudiError, match=file.name):
            session.read.format("hudi").load(str(tmp_path / "t")).collect()
    file.unlink()
    with pytest.raises(HudiError, match=file.name):
        session.read.format("hudi").load(str(tmp_path / "t")).select("id", "day").collect()


def upsert(session: SparkSession, folder: Path, *rows: tuple[int, str]) -> None:
    """Upsert by tasks of Spark, which read the stored keys."""
    options = {
        "pyhudi.engine.local.max.bytes": "1",
        "hoodie.index.type": "SIMPLE",
        "hoodie.metadata.enable": "false",
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
    }
    frame = session.createDataFrame([(*row, OLD) for row in rows], "id long, city string, day date")
    frame.write.format("hudi").options(**options).mode("append").save(str(folder))


def test_record_whose_file_cannot_be_read_is_not_inserted_again(session: SparkSession, tmp_path: Path) -> None:
    table_of(tmp_path / "t", "COPY_ON_WRITE")
    file = base_file(tmp_path / "t")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(CorruptTableError, match=file.name):
        upsert(session, tmp_path / "t", (0, "oslo"))
    file.write_bytes(content)
    upsert(session, tmp_path / "t", (0, "oslo"))
    assert sorted(HudiTable.open(tmp_path / "t").to_arrow()["id"].to_pylist()) == [0, 1]


def test_partition_values_that_look_like_patterns_are_names(session: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "[t]{u}"
    table = table_of(folder, "COPY_ON_WRITE")
    cities = ("*", "?", "[x]", "{x,y}")
    table.insert([{"id": number, "city": city, "day": OLD} for number, city in enumerate(cities, 10)])
    upsert(session, folder, *enumerate(cities, 10), (20, "*"))
    rows = session.read.format("hudi").load(str(folder)).where("id >= 10").select("id", "city").collect()
    assert sorted(map(tuple, rows)) == [*enumerate(cities, 10), (20, "*")]
