"""Tables ordered by a field inside a struct: pyhudi in Python, pyhudi on Spark and Apache Hudi write by turns and read alike."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi
from tests.slow_cases import slow_cases

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("meta", pa.struct([("src", pa.string()), ("ts", pa.int64())]))])


def rows(*values: tuple[int, str, int]) -> pa.Table:
    return pa.Table.from_pylist([{"id": key, "v": v, "meta": {"src": "s", "ts": ts}} for key, v, ts in values], schema=SCHEMA)


@pytest.mark.parametrize("first", slow_cases(["pyhudi", "hudi"], {"hudi"}))
@pytest.mark.parametrize("table_type", slow_cases(["MERGE_ON_READ", "COPY_ON_WRITE"], {"COPY_ON_WRITE"}))
def test_writers_by_turns_order_by_a_field_in_a_struct(
    table_type: str, first: str, spark: SparkSession, reference: ReferenceHudi, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "meta.ts",
        "hoodie.datasource.write.table.type": table_type,
    }

    def by_spark(data: pa.Table, **more: str) -> None:
        spark.createDataFrame(data).write.format("hudi").options(**options, **more).mode("append").save(str(path))

    def by_hudi(data: pa.Table) -> None:
        reference.write(path, data, options=options)

    def check(expected: dict[int, str]) -> None:
        assert {row["id"]: row["v"] for row in HudiTable.open(path).to_arrow().to_pylist()} == expected
        assert {row["id"]: row["v"] for row in spark.read.format("hudi").load(str(path)).select("id", "v").collect()} == expected
        assert {row["id"]: row["v"] for row in reference.read(path).to_pylist()} == expected

    start = rows((1, "a", 5), (2, "b", 5), (3, "c", 5), (4, "kept", 9), (4, "late", 3))
    by_spark(start) if first == "pyhudi" else by_hudi(start)
    assert HudiTable.open(path).config.ordering_fields == ("meta.ts",)
    check({1: "a", 2: "b", 3: "c", 4: "kept"})
    by_hudi(rows((1, "late", 4), (2, "hudi", 6), (5, "new", 1)))
    HudiTable.open(path).upsert(rows((2, "late", 5), (3, "python", 6), (5, "python", 2)))
    by_spark(rows((1, "spark", 6), (3, "late", 1), (6, "six", 5)))
    check({1: "spark", 2: "hudi", 3: "python", 4: "kept", 5: "python", 6: "six"})
    by_hudi(rows((6, "late", 4), (5, "late", 1)))
    HudiTable.open(path).delete([{"id": 1}])
    check({2: "hudi", 3: "python", 4: "kept", 5: "python", 6: "six"})
