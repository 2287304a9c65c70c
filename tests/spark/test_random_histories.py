"""Tables whose columns were added, dropped, renamed, moved and given other types at random: Spark reads the rows of the local engine."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UnsupportedError
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import AddColumn, Change, DropColumn, MoveColumn, RenameColumn, RetypeColumn
from tests.slow_cases import slow_cases
from tests.spark.reader_settings import READERS, configured
from tests.spark.test_promoted_nested import values

pytestmark = pytest.mark.spark

ON = {"hoodie.schema.on.read.enable": "true"}
SMALL = {"hoodie.parquet.small.file.limit": "0"}
PLAIN = [pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string()]
WIDER = {
    pa.int32(): [pa.int64(), pa.float32(), pa.float64(), pa.string()],
    pa.int64(): [pa.float32(), pa.float64(), pa.string()],
    pa.float32(): [pa.float64(), pa.string()],
    pa.float64(): [pa.string()],
    pa.decimal128(9, 2): [pa.decimal128(15, 2), pa.decimal128(15, 4), pa.string()],
    pa.date32(): [pa.string()],
}
INNER = pa.struct({"u": pa.int64(), "w": pa.float32()})
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "a": pa.int32(),
        "b": pa.float32(),
        "c": pa.int64(),
        "d": pa.date32(),
        "s": INNER,
        "l": pa.list_(INNER),
        "m": pa.map_(pa.string(), pa.float32()),
    }
)
LEAVES = [("s", "u"), ("s", "w"), ("l", "element", "u"), ("l", "element", "w"), ("m", "value")]


def random_change(schema: pa.Schema, chance: random.Random) -> Change:
    """A change of the columns; some of them are refused."""
    names = [name for name in schema.names if name != "id"]
    name, fresh = chance.choice(names), f"n{chance.randrange(3)}"
    kind = schema.field(name).type
    match chance.randrange(8):
        case 0:
            return AddColumn(chance.choice([(fresh,), ("s", fresh), ("l", "element", fresh)]), chance.choice(PLAIN))
        case 1:
            return DropColumn((name,))
        case 2:
            return RenameColumn(chance.choice([(name,), ("s", "u"), ("s", "w")]), chance.choice([fresh, "a", "u"]))
        case 3:
            return MoveColumn((name,), "")
        case 4 | 5:
            return RetypeColumn(chance.choice(LEAVES), chance.choice([pa.float64(), pa.float32(), pa.string()]))
        case _:
            return RetypeColumn((name,), chance.choice(WIDER.get(kind, [pa.string()])))


def lived(path: Path, seed: int) -> HudiTable:
    """A table of some commits with changes of its columns between them."""
    chance = random.Random(seed)
    kind = chance.choice(["COPY_ON_WRITE", "MERGE_ON_READ"])
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], table_type=kind)
    for number in range(4):
        for _ in range(chance.randrange(3) if number else 0):
            try:
                alter_schema(table, [random_change(table.schema, chance)], options=ON)
            except (SchemaError, UnsupportedError):
                continue
        rows: dict[str, Any] = {"id": pa.array(range(10 * number, 10 * number + 7), pa.int64())}
        rows |= {
            field.name: pa.array([value_of(field.type, chance) for _ in range(7)], field.type)
            for field in table.schema
            if field.name != "id"
        }
        table.insert(pa.table(rows, schema=table.schema), options=SMALL)
    return HudiTable.open(path)


def value_of(kind: pa.DataType, chance: random.Random) -> Any:
    return chance.choice([None, 1, 20000]) if pa.types.is_date(kind) else values(kind, chance)


@pytest.mark.parametrize("seed", slow_cases(range(60), range(6, 60)))
def test_rows_after_random_changes_of_columns(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    table = lived(tmp_path / "t", seed)
    names = table.schema.names
    expected = table.to_arrow().sort_by("id").to_pylist()
    reader = list(READERS)[seed % len(READERS)]
    with configured(spark, READERS[reader]):
        frame = spark.read.format("hudi").load(str(tmp_path / "t")).select(names)
        assert repr(frame.orderBy("id").toArrow().to_pylist()) == repr(expected), reader
        for name in set(names) - {"id"}:  # each column without the others, and a filter on it
            ids = [tuple(row) for row in frame.where(f"{name} IS NOT NULL").orderBy("id").select("id").collect()]
            assert ids == [(row["id"],) for row in expected if row[name] is not None], name


def test_numbers_of_older_versions_are_scanned_with_those_of_today(spark: SparkSession, tmp_path: Path) -> None:
    columns = pa.schema({"id": pa.int64(), "b": pa.float32(), "c": pa.int64(), "s": INNER})
    table = HudiTable.create(tmp_path / "t", columns, name="t", keys=["id"])
    for number in range(6):
        row = {"id": number, "b": number + 0.1, "c": number, "s": {"u": number, "w": number + 0.1}}
        table.insert(pa.Table.from_pylist([row], schema=columns), options=SMALL)
    retyped: list[Change] = [RetypeColumn(path, pa.float64()) for path in [("b",), ("c",), ("s", "u"), ("s", "w")]]
    alter_schema(table, [*retyped, AddColumn(("s", "late"), pa.string())], options=ON)
    frame = spark.read.format("hudi").load(str(tmp_path / "t"))
    assert "Union" not in frame._jdf.queryExecution().optimizedPlan().toString()
    rows = [tuple(row) for row in frame.orderBy("id").selectExpr("b", "c", "s.u", "s.w", "s.late").collect()]
    assert rows == [(number + 0.1, number, number, number + 0.1, None) for number in range(6)]
    for condition, ids in {"b = 3.1D": [3], "b > 4.05D": [4, 5], "c = 2D": [2], "s.w <= 0.1D": [0]}.items():
        assert sorted(row["id"] for row in frame.where(condition).select("id").collect()) == ids, condition
