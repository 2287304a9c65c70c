"""Tables that Apache Hudi 1.2.0 widened, of every pair of types that it takes, in columns, structs, lists and maps: the rows it reads."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from tests.tables import FIXTURES

NAMES = sorted(path.stem for path in (FIXTURES / "promoted").glob("*.zip"))
WITH_LOGS = [name for name in NAMES if name.startswith("merge_on_read")]
FixtureTable = Callable[[str], Path]


def strings(rows: pa.Table, *without: str) -> list[str]:
    """Rows in the order of their keys, as texts: NaN is NaN, and the sign of zero counts."""
    ordered = rows.sort_by("id").drop_columns([name for name in rows.column_names if name in without])
    return list(map(repr, ordered.to_pylist()))


def of_apache_hudi(path: Path, kind: str) -> pa.Table:
    return pq.read_table(path.parent / f"{path.name}.{kind}.parquet")


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_apache_hudi(name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(f"promoted/{name}")
    expected = of_apache_hudi(path, "snapshot" if name in WITH_LOGS else "expected")
    assert strings(HudiTable.open(path).to_arrow(meta_columns=True)) == strings(expected)


@pytest.mark.parametrize("name", WITH_LOGS)
def test_rows_of_base_files_are_those_of_apache_hudi(name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(f"promoted/{name}")
    assert strings(HudiTable.open(path).to_arrow(mode="read_optimized", meta_columns=True)) == strings(of_apache_hudi(path, "expected"))


@pytest.mark.parametrize("name", NAMES)
def test_values_are_found_by_a_filter(name: str, fixture_table: FixtureTable) -> None:
    table = HudiTable.open(fixture_table(f"promoted/{name}"))
    rows = table.to_arrow()
    for column, value in (
        ("float_double", 0.1),
        ("float_string", "2.0"),
        ("double_string", "1.9999999999999998E23"),
        ("int_float", 16777216.0),
    ):
        condition = pc.field(column) == pa.scalar(value, rows.schema.field(column).type)
        result = table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()
        assert sorted(result) == sorted(rows.filter(condition)["id"].to_pylist()) != []


@pytest.mark.parametrize("name", NAMES)
def test_before_the_widening_the_columns_have_their_old_types(name: str, fixture_table: FixtureTable) -> None:
    table = HudiTable.open(fixture_table(f"promoted/{name}"))
    first = min(row["requested"] for row in table.history().to_pylist())
    old = table.to_arrow(as_of=first)
    assert old.schema.field("float_string").type == pa.float32()
    assert old.schema.field("list_int_long").type.value_type == pa.int32()
    changes = table.changes(since="000")
    assert changes.schema.field("float_string").type == pa.string()


@pytest.mark.parametrize("name", NAMES)
def test_rewritten_rows_keep_their_values(name: str, fixture_table: FixtureTable, tmp_path: Path) -> None:
    """Base files are written again, by an upsert or a compaction, under the types of today."""
    path = tmp_path / "t"
    shutil.copytree(fixture_table(f"promoted/{name}"), path)
    table = HudiTable.open(path)
    before = table.to_arrow()
    options: dict[str, Any] = {"hoodie.metadata.enable": "false"}
    if name in WITH_LOGS:
        assert table.services.compact(options={**options, "hoodie.compact.inline.max.delta.commits": "1"})
    else:
        table.upsert(before.slice(0, 1), options)
    assert len({row["_hoodie_file_name"] for row in table.to_arrow(meta_columns=True).to_pylist()}) <= 2
    assert strings(HudiTable.open(path).to_arrow()) == strings(before)
