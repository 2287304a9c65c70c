"""Change data of tables whose columns Apache Hudi widened, and tables whose record key it widened."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.change_data_recipes import changes
from tests.interop.reference import ReferenceHudi
from tests.interop.test_change_data import change_texts

NARROW = pa.schema({"id": pa.string(), "ts": pa.int64(), "n": pa.int32(), "x": pa.float32(), "text": pa.int32()})
WIDE = pa.schema({"id": pa.string(), "ts": pa.int64(), "n": pa.int64(), "x": pa.float64(), "text": pa.string()})
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.compact.inline": "false",
}


def narrow(number: int, ts: int) -> dict[str, object]:
    return {"id": f"e{number}", "ts": ts, "n": number, "x": 0.5 * number, "text": number}


def wide(number: int, ts: int) -> dict[str, object]:
    return {"id": f"e{number}", "ts": ts, "n": number + 2**40, "x": 0.5 * number, "text": f"t{number}"}


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("COPY_ON_WRITE", "DATA_BEFORE_AFTER"),
        pytest.param("COPY_ON_WRITE", "OP_KEY_ONLY", marks=pytest.mark.slow),
        ("MERGE_ON_READ", "DATA_BEFORE"),
    ],
)
def test_change_data_of_widened_columns(kind: str, mode: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    capture = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    given = OPTIONS | capture | {"hoodie.datasource.write.table.type": kind}
    reference.write(path, pa.Table.from_pylist([narrow(number, 1) for number in range(3)], NARROW), "append", given)
    reference.write(path, pa.Table.from_pylist([narrow(0, 2)], NARROW), "append", given)
    reference.write(path, pa.Table.from_pylist([wide(1, 3), wide(3, 3)], WIDE), "append", given)
    ours = HudiTable.open(path).changes(format="cdc")
    assert ours.num_rows == 6
    assert change_texts(ours) == change_texts(changes(reference, path))
    HudiTable.open(path).upsert(pa.Table.from_pylist([wide(2, 4)], WIDE))
    assert change_texts(HudiTable.open(path).changes(format="cdc")) == change_texts(changes(reference, path))


def test_widened_record_key_is_the_same_key(reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    given = OPTIONS | {"hoodie.datasource.write.recordkey.field": "n"}
    reference.write(path, pa.Table.from_pylist([narrow(number, 1) for number in range(3)], NARROW), "append", given)
    reference.write(path, pa.Table.from_pylist([wide(1, 2) | {"n": 1}, wide(3, 2)], WIDE), "append", given)
    table = HudiTable.open(path)
    assert sorted(table.to_arrow()["n"].to_pylist()) == [0, 1, 2, 3 + 2**40]
    result = table.upsert(pa.Table.from_pylist([wide(2, 3) | {"n": 2}, wide(3, 3), wide(4, 3)], WIDE))
    assert (result.updated, result.inserted) == (2, 1)
    expected = sorted(
        map(str, reference.read(path).drop_columns([name for name in reference.read(path).column_names if "hoodie" in name]).to_pylist())
    )
    assert sorted(map(str, HudiTable.open(path).to_arrow().to_pylist())) == expected
    assert sorted(row["n"] for row in spark.read.format("hudi").load(str(path)).collect()) == [0, 1, 2, 3 + 2**40, 4 + 2**40]
    assert table.delete(pa.table({"n": pa.array([0], pa.int32())})).deleted == 1
