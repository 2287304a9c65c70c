"""Numbers inside of structs, arrays and maps that became floats or doubles: converted by the reader of one scan."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from tests.spark.reader_settings import READERS, configured
from tests.spark.tables import add_commit, make_table
from tests.spark.test_promoted_files import indexes_asked

pytestmark = pytest.mark.spark

FORMS = {**READERS, "nested rows": {"spark.sql.parquet.enableNestedColumnVectorizedReader": "false"}}
FLOATS = [0.1, 2.0, 1e-5, 3.4e38, float("nan"), -0.0, 16777216.0, None]
LONGS = [2**53 + 1, -1, 0, 2**62 + 1, 16777217, None]
ROWS = 300


def columns(whole: pa.DataType, real: pa.DataType) -> dict[str, pa.DataType]:
    """The columns with two types of numbers in them, and others between these."""
    inner = pa.struct({"name": pa.string(), "x": whole, "b": real})
    return {
        "s": pa.struct({"x": whole, "note": pa.string(), "z": real, "deep": pa.struct({"r": real, "n": pa.int64()})}),
        "l": pa.list_(real),
        "m": pa.map_(pa.string(), whole),
        "q": pa.list_(inner),
        "d": pa.map_(pa.string(), pa.list_(inner)),
    }


def values(kind: pa.DataType, chance: random.Random) -> Any:
    """A value of a type; one in six is null."""
    if chance.random() < 1 / 6:
        return None
    if pa.types.is_struct(kind):
        return {field.name: values(field.type, chance) for field in kind}
    if pa.types.is_map(kind):
        return [(f"k{number}", values(kind.item_type, chance)) for number in range(chance.randrange(4))]
    if pa.types.is_list(kind):
        return [values(kind.value_type, chance) for _ in range(chance.randrange(4))]
    if pa.types.is_floating(kind):
        return chance.choice(FLOATS)
    if pa.types.is_integer(kind):
        return chance.choice(LONGS) if kind == pa.int64() else chance.choice([1, -5, 2**31 - 1])
    return f"text {chance.randrange(9)}"


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of three commits: longs and floats, then longs that became doubles, then all doubles."""
    folder = tmp_path_factory.mktemp("nested") / "t"
    chance = random.Random(7)
    for number, kinds in enumerate([(pa.int64(), pa.float32()), (pa.float64(), pa.float32()), (pa.float64(), pa.float64())]):
        schema = pa.schema({"id": pa.int64(), "part": pa.string(), **columns(*kinds)})
        ids = pa.array(range(ROWS * number, ROWS * (number + 1)), pa.int64())
        made = [pa.array([values(field.type, chance) for _ in range(ROWS)], field.type) for field in list(schema)[2:]]
        rows = {f"p{number}": pa.table([ids, pa.array([f"p{number}"] * ROWS), *made], schema=schema)}
        if number == 0:
            make_table(folder, schema, rows, {"hoodie.table.partition.fields": "part"}, instant="20260101000000000")
        else:
            add_commit(folder, schema, rows, f"2026010{number + 1}000000000")
    return folder


def load(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.format("hudi").load(str(path))


@pytest.mark.parametrize("reader", FORMS)
def test_nested_numbers_are_scanned_with_the_doubles_of_today(spark: SparkSession, nested: Path, reader: str) -> None:
    expected = HudiTable.open(nested).to_arrow().sort_by("id").to_pylist()
    names = list(expected[0])
    with configured(spark, FORMS[reader]):
        frame = load(spark, nested).select(names)
        assert "Union" not in frame._jdf.queryExecution().optimizedPlan().toString()
        assert repr(frame.orderBy("id").toArrow().to_pylist()) == repr(expected)
        fields = "s.x", "s.z", "s.deep.r", "get(q, 0).b", "get(d['k0'], 0).x", "get(l, 1)", "m['k1']"
        rows = [tuple(row) for row in frame.orderBy("id").selectExpr(*fields).collect()]
        assert repr(rows) == repr([used(row) for row in expected])
        chosen = {
            "s.z = 0.1D": [row["id"] for row in expected if row["s"] and row["s"]["z"] == 0.1],
            "s.deep.r IS NULL AND s.x < 1": [row["id"] for row in expected if row["s"] and is_small(row["s"])],
            "exists(l, x -> x = 16777216D)": [row["id"] for row in expected if 16777216.0 in (row["l"] or ())],
        }
        for condition, ids in chosen.items():
            assert [row["id"] for row in frame.where(condition).orderBy("id").select("id").collect()] == ids != [], condition


def is_small(row: dict[str, Any]) -> bool:
    return row["x"] is not None and row["x"] < 1 and (row["deep"] is None or row["deep"]["r"] is None)


def used(row: dict[str, Any]) -> tuple[Any, ...]:
    s, q = row["s"] or {}, row["q"] or [None]
    lists = dict(row["d"] or ()).get("k0") or [None]
    numbers = (*(row["l"] or ()), None, None)
    deep = s.get("deep") or {}
    held = dict(row["m"] or ()).get("k1")
    return s.get("x"), s.get("z"), deep.get("r"), (q[0] or {}).get("b"), (lists[0] or {}).get("x"), numbers[1], held


def test_indexes_skip_files_by_fields_that_are_converted(spark: SparkSession, tmp_path: Path) -> None:
    types = pa.struct({"x": pa.int64(), "y": pa.float32()}), pa.struct({"x": pa.float64(), "y": pa.float64()})
    old, new = (pa.schema({"id": pa.int64(), "s": kind}) for kind in types)
    table = HudiTable.create(tmp_path / "t", old, name="t", keys=["id"])
    small = {
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.column.stats.column.list": "id,s.x,s.y",
    }
    for number in range(6):
        table.insert(pa.table([[number], [{"x": number, "y": number + 0.1}]], schema=old), options=small)
    table.insert(pa.table([[6], [{"x": 6.5, "y": 6.1}]], schema=new), options=small)
    frame = load(spark, tmp_path / "t")
    for condition, ids in {"s.y = 3.1D": [3], "s.y > 4.05D": [4, 5, 6], "s.x = 2D": [2], "s.x > 5.5D": [6], "s.y <= 0.1D": [0]}.items():
        with indexes_asked() as files:
            assert sorted(row["id"] for row in frame.where(condition).select("id").collect()) == ids, condition
        assert set(files) == {len(ids)}, condition
