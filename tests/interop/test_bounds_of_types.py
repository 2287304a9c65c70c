"""Bounds of columns of every type: both sides state them alike in the metadata table, filter by them and continue with the other's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data
from tests.stated_bounds import INDEXES, NOW, RECORDED, Bounds, recorded_bounds, rows_of_every_type, stated_bounds

APART = {"hoodie.compact.inline": "false", **INDEXES}
SKIPPING = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
ROWS = rows_of_every_type()
#: Of the row `b` with extremes, every column that has bounds; each of them can lose the row.
EXTREMES = """
NOT bool AND int8 = -128 AND int16 = -32768 AND int32 = -2147483648 AND int64 = 9223372036854775807 AND float32 < -1e30
AND float64 > 1e299 AND decimal_9_2 = -9999999.99 AND decimal_18_1 = 12345678901234567.8 AND decimal_38_10 = -2 AND string = ''
AND date = DATE'1969-12-31' AND timestamp = TIMESTAMP'1883-11-18 12:03:58.000001'
AND timestamp_ntz = TIMESTAMP_NTZ'1883-11-18 12:03:58.000001'
"""
USUAL = """
bool AND int8 = 1 AND int16 = 2 AND int32 = 3 AND int64 = 4 AND float32 = 1.5 AND float64 = 1 AND decimal_9_2 = 1.5 AND decimal_18_1 = 1.5
AND decimal_38_10 > 0 AND string > 'u' AND date = DATE'2026-01-02' AND timestamp = TIMESTAMP'2026-01-02 03:04:05.678901'
AND timestamp_ntz = TIMESTAMP_NTZ'2026-01-02 03:04:05.678901'
"""
NULLS = "timestamp IS NULL AND date IS NULL AND decimal_9_2 IS NULL AND int64 IS NULL AND binary IS NULL"


def table_kind(version: int, table_type: str) -> Kind:
    return Kind("types", partition_by=("part",), version=version, table_type=table_type)


def reference_writes(reference: ReferenceHudi, path: Path, kind: Kind, rows: pa.Table, **more: str) -> None:
    options = {key.replace("__", "."): value for key, value in more.items()}
    replace(kind, options=APART | options).reference_writes(reference, path, "upsert", rows)


def reference_compacts(reference: ReferenceHudi, path: Path, kind: Kind) -> None:
    now = {"hoodie__compact__inline": "true", **{key.replace(".", "__"): value for key, value in NOW.items()}}
    reference_writes(reference, path, kind, ROWS, **now)


def bounds_of_reference(reference: ReferenceHudi, path: Path, version: int) -> Bounds:
    """What Apache Hudi states of rows that it inserts, updates in logs and compacts."""
    kind = table_kind(version, "MERGE_ON_READ")
    reference_writes(reference, path, kind, ROWS)
    reference_writes(reference, path, kind, ROWS)
    stated = [stated_bounds(path)]
    reference_compacts(reference, path, kind)
    stated.append(stated_bounds(path))
    kinds = sorted({kind for bounds in stated for kind in bounds})
    return {kind: {c: _union(stated, kind, c) for c in stated[0][kind]} for kind in kinds}


def _union(stated: list[Bounds], kind: str, column: str) -> list[str]:
    return sorted({text for bounds in stated for text in bounds.get(kind, {}).get(column, ())})


@pytest.mark.slow
@pytest.mark.parametrize("version", [6, 8, 9])
def test_what_is_recorded_of_apache_hudi_is_what_it_states(reference: ReferenceHudi, tmp_path: Path, version: int) -> None:
    assert bounds_of_reference(reference, tmp_path / "t", version) == recorded_bounds(version)


def check(reference: ReferenceHudi, path: Path, name: str) -> None:
    expected = data(ROWS)
    assert data(reference.read(path)) == expected
    assert data(HudiTable.open(path).to_arrow()) == expected
    for condition, ids in ((EXTREMES, ["b"]), (USUAL, ["a"]), (NULLS, ["c", "d"])):
        result = reference.sql(f"REFRESH TABLE {name}", f"SELECT id FROM {name} WHERE {condition} ORDER BY id", conf=SKIPPING)
        assert result["id"].to_pylist() == ids, condition
    assert [row for row in HudiTable.open(path).inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def take_turns(reference: ReferenceHudi, path: Path, version: int, table_type: str, *, pyhudi_creates: bool) -> None:
    kind, name = table_kind(version, table_type), f"types_{version}_{table_type}_{pyhudi_creates}"
    is_merged = table_type == "MERGE_ON_READ"
    if pyhudi_creates:
        kind.create(path, ROWS.schema).insert(ROWS, APART)
    else:
        reference_writes(reference, path, kind, ROWS)
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    table = HudiTable.open(path)
    table.upsert(ROWS.slice(0, 2), APART)
    reference_writes(reference, path, kind, ROWS.slice(0, 1))
    table.upsert(ROWS.slice(1, 3), APART)
    if is_merged:
        assert table.services.compact(options=NOW)
    check(reference, path, name)
    reference_writes(reference, path, kind, ROWS.slice(1, 2))
    table.upsert(ROWS.slice(0, 2), APART)
    if is_merged:
        reference_compacts(reference, path, kind)
    table.upsert(ROWS.slice(0, 1), APART)
    reference_writes(reference, path, kind, ROWS.slice(0, 3))
    check(reference, path, name)


def test_apache_hudi_continues_after_upserts_and_a_compaction_of_ours(reference: ReferenceHudi, tmp_path: Path) -> None:
    take_turns(reference, tmp_path / "t", 8, "MERGE_ON_READ", pyhudi_creates=True)


@pytest.mark.slow
@pytest.mark.parametrize("pyhudi_creates", [True, False], ids=["by_pyhudi", "by_apache_hudi"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 8, 9])
def test_both_take_turns(reference: ReferenceHudi, tmp_path: Path, version: int, table_type: str, pyhudi_creates: bool) -> None:
    if (version, table_type, pyhudi_creates) != (8, "MERGE_ON_READ", True):  # the test above
        take_turns(reference, tmp_path / "t", version, table_type, pyhudi_creates=pyhudi_creates)


def test_an_index_keeps_its_version_when_apache_hudi_upgrades_the_table(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, kind = tmp_path / "t", table_kind(8, "MERGE_ON_READ")
    kind.create(path, ROWS.schema).insert(ROWS, APART)
    kind = replace(kind, version=9)
    reference_writes(reference, path, kind, ROWS.slice(0, 1))
    reference.sql(f"CREATE TABLE types_upgraded USING hudi LOCATION '{path}'")
    table = HudiTable.open(path)
    assert "hoodie.table.version=9" in (path / ".hoodie/hoodie.properties").read_text().splitlines()
    table.upsert(ROWS.slice(0, 2), APART)
    assert table.services.compact(options=NOW)
    assert json.loads((path / ".hoodie/.index_defs/index.json").read_text())["indexDefinitions"]["column_stats"]["version"] == "V1"
    reference_writes(reference, path, kind, ROWS.slice(1, 3))
    reference_compacts(reference, path, kind)
    check(reference, path, "types_upgraded")
    assert stated_bounds(path) == {kind: columns for kind, columns in recorded_bounds(8).items() if kind != "log"} | {
        kind: columns for kind, columns in stated_bounds(path).items() if kind == "log"
    }


def record(reference: ReferenceHudi, folder: Path) -> None:
    """Write down again what Apache Hudi states: `python -m tests.interop.test_bounds_of_types`."""
    recorded = {str(version): bounds_of_reference(reference, folder / str(version), version) for version in (6, 8, 9)}
    RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
