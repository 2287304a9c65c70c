"""Nulls of required fields below null structs, as Spark sends them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError
from pyhudi.schema.evolve import conform

TYPES = [
    pa.int32(),
    pa.bool_(),
    pa.float64(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.decimal128(38, 10),
    pa.list_(pa.field("element", pa.int32())),
    pa.map_(pa.string(), pa.int32()),
    pa.struct([pa.field("x", pa.string(), nullable=False)]),
]


def hidden(arrow: pa.DataType, rows: int = 2) -> pa.Array:
    """Null structs of one required field, which is null as well."""
    kind = pa.struct([pa.field("a", arrow, nullable=False)])
    return pa.Array.from_buffers(kind, rows, [pa.py_buffer(b"\0")], children=[pa.nulls(rows, arrow)])


@pytest.mark.parametrize("arrow", TYPES, ids=str)
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_null_structs_of_required_fields_are_written_and_read_back(arrow: pa.DataType, table_type: str, tmp_path: Path) -> None:
    structs = hidden(arrow)
    columns = {
        "id": pa.array([1, 2], pa.int32()),
        "s": structs,
        "l": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), structs),
        "m": pa.MapArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["k", "l"]), structs),
    }
    rows = pa.table(columns)
    table = HudiTable.create(tmp_path / "t", rows.schema, name="t", keys=["id"], table_type=table_type)
    table.upsert(rows)
    table.upsert(rows.slice(1))
    result = table.to_arrow().sort_by("id").to_pylist()
    assert result == [
        {"id": 1, "s": None, "l": [None], "m": [("k", None)]},
        {"id": 2, "s": None, "l": [None], "m": [("l", None)]},
    ]


def test_values_beside_hidden_nulls_stay_as_they_are() -> None:
    kind = pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.string())])
    children = [pa.array([1, None, 3], pa.int32()), pa.array(["x", None, None])]
    rows = pa.table({"s": pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\5")], children=children)})
    result = conform(rows, rows.schema)
    assert result.to_pydict() == {"s": [{"a": 1, "b": "x"}, None, {"a": 3, "b": None}]}
    assert pc.struct_field(result["s"], "a").null_count == 1
    assert result["s"].chunk(0).field(0).null_count == 0


def test_a_column_whose_fields_may_be_null_fits_one_whose_fields_may_not() -> None:
    target = pa.map_(pa.string(), pa.struct([pa.field("a", pa.int32(), nullable=False)]))
    rows = pa.table({"m": pa.array([[("k", {"a": 1}), ("l", None)], None], pa.map_(pa.string(), pa.struct([("a", pa.int32())])))})
    result = conform(rows, pa.schema({"m": target}))
    assert result.schema.field("m").type == target
    assert result["m"].to_pylist() == [[("k", {"a": 1}), ("l", None)], None]


def test_a_null_that_shows_is_refused_by_the_path_of_its_field() -> None:
    kind = pa.struct([pa.field("a", pa.int32(), nullable=False)])
    structs = pa.Array.from_buffers(kind, 1, [None], children=[pa.nulls(1, pa.int32())])
    rows = pa.table({"l": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), structs)})
    with pytest.raises(SchemaError, match=r"l\.element\.a"):
        conform(rows, rows.schema)
