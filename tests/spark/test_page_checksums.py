"""Spark's own scan holds pages against their CRCs: a changed bit is an error that names the file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError


def test_flipped_bit_in_a_page_is_an_error_that_names_the_file(spark, tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.int64(), "value": pa.int64()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"])
    rows = [{"id": number, "value": number * 7919 % 10007} for number in range(5000)]
    table.bulk_insert(rows)
    (file,) = (tmp_path / "t").glob("*.parquet")
    group = pq.read_metadata(file).row_group(0)
    chunk = group.column(group.num_columns - 1)
    start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    data = bytearray(file.read_bytes())
    data[start + chunk.total_compressed_size * 3 // 4] ^= 4
    file.write_bytes(data)

    def values(**options: str) -> list[int]:
        frame = spark.read.format("hudi").options(**options).load(str(tmp_path / "t"))
        return sorted(row.value for row in frame.select("value").collect())

    with pytest.raises(CorruptTableError, match=file.name):
        values()
    with pytest.raises(CorruptTableError, match=file.name):
        spark.read.format("hudi").load(str(tmp_path / "t")).where("value > 3").count()
    assert values(**{"pyhudi.read.verify.checksums": "false"}) != [row["value"] for row in rows]
    assert spark.read.format("hudi").load(str(tmp_path / "t")).select("id").count() == len(rows)


def test_flipped_bit_in_an_avro_log_is_an_error_that_names_the_file(spark, tmp_path: Path) -> None:
    rows = [(number, number * 7) for number in range(20)]
    frame = spark.createDataFrame(rows, "id long, value long").coalesce(1)
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.logfile.data.block.format": "avro",
    }
    path = str(tmp_path / "t")
    frame.write.format("hudi").options(**options).mode("append").save(path)
    frame.where("id < 5").write.format("hudi").options(**options).mode("append").save(path)
    (file,) = (tmp_path / "t").glob(".*.log.*")
    data = bytearray(file.read_bytes())
    data[-20] ^= 4
    file.write_bytes(data)
    for query in (lambda read: read.collect(), lambda read: read.count()):
        with pytest.raises(CorruptTableError, match=file.name):
            query(spark.read.format("hudi").load(path))
