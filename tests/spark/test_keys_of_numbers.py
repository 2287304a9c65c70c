"""Keys and paths of floating point numbers and decimals are the same whichever engine makes them: zeros with a sign, small decimals."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError
from pyhudi.keygen.fields import FieldKeys
from pyhudi.keygen.key_generator_protocol import KeyFields, PartitionLayout
from pyhudi.spark.index_join.key_columns import with_keys
from tests.spark.test_key_generators import KEYS, ON_SPARK, PATH

NUMBERS = pa.schema(
    {
        "id": pa.int64(),
        "x": pa.float64(),
        "f": pa.float32(),
        "d": pa.decimal128(18, 8),
        "m": pa.decimal128(9, 6),
        "deep": pa.struct({"z": pa.float64()}),
    }
)
SMALL = [Decimal(text) for text in ("0.00000001", "0", "-0.0000001", "1.5")]
FLOATS = (-0.0, 0.0, float("nan"), 2e23)
AMOUNTS = pa.Table.from_pylist(
    [
        {"id": n, "x": x, "f": f, "d": d, "m": Decimal("0.000001") * n, "deep": {"z": -x}}
        for n, (x, f, d) in enumerate(zip(FLOATS, (0.0, -0.0, 33589688.0, 1.5), SMALL, strict=True))
    ],
    NUMBERS,
)
CUSTOM = {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator"}
HIVE = {"hoodie.datasource.write.hive_style_partitioning": "true", "hoodie.datasource.write.partitionpath.urlencode": "true"}


@pytest.mark.parametrize(
    ("keys", "partition_by", "options"),
    [
        pytest.param("id", "x", {}, marks=pytest.mark.slow),
        pytest.param("d", "deep.z,id", HIVE, marks=pytest.mark.slow),
        ("f,x,m", "f:SIMPLE,x:SIMPLE", CUSTOM),
        pytest.param("x", "f", {}, marks=pytest.mark.slow),
        pytest.param("d,id", "m,d", {}, marks=pytest.mark.slow),
    ],
)
def test_keys_and_paths_of_numbers_are_found_by_either_engine(
    spark: SparkSession, tmp_path: Path, keys: str, partition_by: str, options: dict[str, str]
) -> None:
    rows, made = spark.createDataFrame(AMOUNTS), {}
    for first, second in (("spark", "local"), ("local", "spark")):
        table = new_table(NUMBERS, tmp_path / first, keys, partition_by, options)
        assert table.upsert(rows, options={"pyhudi.engine": first}).inserted == 4
        assert table.upsert(rows, options={"pyhudi.engine": second}).updated == 4
        assert table.delete(rows.where("id = 0"), options={"pyhudi.engine": second}).deleted == 1
        made[first] = sorted(table.to_arrow(columns=["id", KEYS, PATH]).to_pylist(), key=repr)
        stored = spark.read.format("hudi").load(str(tmp_path / first)).where("id < 2 AND x = 0")
        assert [tuple(row) for row in stored.selectExpr("id", "string(x)", "string(f)", "string(deep.z)").collect()] == [
            (1, "0.0", "-0.0", "-0.0")
        ]
    assert made["spark"] == made["local"]


def test_zeros_of_either_sign_have_partitions_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    table = new_table(NUMBERS, tmp_path / "t", "m", "x", {})
    rows = spark.createDataFrame(AMOUNTS).where("id < 2").selectExpr("0 AS id", "x", "f", "d", "CAST(1 AS DECIMAL(9, 6)) AS m", "deep")
    assert table.upsert(rows, options=ON_SPARK).inserted == 2
    assert sorted(table.to_arrow(columns=[PATH])[PATH].to_pylist()) == ["-0.0", "0.0"]
    stored = spark.read.format("hudi").load(str(tmp_path / "t")).selectExpr(PATH, "string(x)").collect()
    assert sorted(tuple(row) for row in stored) == [("-0.0", "-0.0"), ("0.0", "0.0")]


def test_text_of_a_floating_point_key_does_not_depend_on_the_jvm(spark: SparkSession) -> None:
    def plan(name: str) -> str:
        keyed = with_keys(spark.createDataFrame(AMOUNTS), FieldKeys(KeyFields((name,), is_composite=False), PartitionLayout()), "")
        return str(keyed._jdf.queryExecution().executedPlan())

    assert {name: "ArrowEvalPython" in plan(name) for name in ("x", "f", "d", "m", "id")} == {
        "x": True,
        "f": True,
        "d": True,
        "m": False,
        "id": False,
    }


@pytest.mark.parametrize("kind", ["DOUBLE", "BINARY"])
def test_empty_key_fields_are_counted_whoever_makes_their_strings(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = spark.sql(f"SELECT id, CAST(IF(id < 2, NULL, STRING(id)) AS {kind}) AS x FROM range(5)").coalesce(1)
    table = new_table(to_arrow_schema(rows.schema), tmp_path / "t", "x", "id", {})
    with pytest.raises(KeyFieldError, match=r"^2 rows have no record key"):
        table.upsert(rows, options=ON_SPARK)


def new_table(schema: pa.Schema, path: Path, keys: str, partition_by: str, options: dict[str, str]) -> HudiTable:
    return HudiTable.create(path, schema, name="t", keys=keys.split(","), partition_by=partition_by.split(","), options=options)
