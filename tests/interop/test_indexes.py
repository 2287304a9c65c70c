"""Record, secondary and expression indexes: Apache Hudi finds rows by ours and continues with them, and we continue with its."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi
from tests.unit.service.test_indexes import SCHEMA, change, check, open_metadata, placed, rows

LOCK = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
ON = {
    **LOCK,
    "hoodie.metadata.enable": "true",
    "hoodie.enable.data.skipping": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.index.expression.enable": "true",
    "hoodie.compact.inline": "false",
}
CONDITIONS = (
    "from_unixtime(ts, 'yyyy-MM-dd') = '1970-01-01' AND id = 'k002'",
    "id = 'k003'",
    "id IN ('k001', 'k004', 'k040', 'nothing')",
    "name = 'N$51'",
    "name IN ('N$3', 'N$4')",
    "lower(name) = 'n$51'",
)


def reference_upserts(reference: ReferenceHudi, path: Path, data, kind: str, operation: str = "upsert", **more: str) -> None:
    options = {
        **ON,
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.operation": operation,
    }
    reference.write(path, data, options=options | more)


def reference_finds_what_we_find(reference: ReferenceHudi, path: Path, name: str) -> None:
    reference.sql(f"REFRESH TABLE {name}")  # it keeps a listing of files that were written by path
    for condition in CONDITIONS:
        theirs = reference.sql(f"SELECT id FROM {name} WHERE {condition}", conf=ON).column("id").to_pylist()
        ours = HudiTable.open(path).to_arrow(columns=["id", "name"]).to_pylist()
        assert sorted(theirs) == sorted(row["id"] for row in ours if holds(condition, row)), condition


def holds(condition: str, row: dict[str, str | None]) -> bool:
    """What the conditions above say of a row, by other means than the reader's."""
    if condition.startswith("from_unixtime"):
        return row["id"] == "k002"
    values = condition.split("'")[1::2]
    column = row["id"] if condition.startswith("id") else row["name"]
    return column is not None and (column.lower() if condition.startswith("lower") else column) in values


@pytest.mark.parametrize("kind", [pytest.param("COPY_ON_WRITE", marks=pytest.mark.slow), "MERGE_ON_READ"])
def test_apache_hudi_finds_rows_by_our_indexes_and_continues_with_them(reference: ReferenceHudi, tmp_path: Path, kind: str) -> None:
    path, name = tmp_path / "t", f"indexed_{kind.lower()}"
    table = HudiTable.create(str(path), SCHEMA, name="t", keys=("id",), partition_by=("city",), order_by=("ts",), table_type=kind)
    table.insert(rows(0, 20))
    table.services.index("by_name", "name")
    table.services.index("low", "name", using="column_stats", options={"expr": "lower"})
    table.services.index("day", "ts", using="column_stats", options={"expr": "from_unixtime", "format": "yyyy-MM-dd"})
    table.services.index("bloom", "name", using="bloom_filters", options={"expr": "upper"})
    change(table)
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    reference_finds_what_we_find(reference, path, name)
    result = reference.sql(f"CALL validate_metadata_table_files(table => '{name}', verbose => true)", conf=ON).to_pylist()
    assert all(row["is_present_in_fs"] and row["is_present_in_metadata"] and row["fs_size"] == row["metadata_size"] for row in result)
    table.services.index("bloom", drop=True)  # Apache Hudi's own writes of one fail on null values
    reference_upserts(reference, path, rows(43, 48, ts=51), kind)
    reference_upserts(reference, path, rows(40, 42, ts=52, city="c1"), kind, "delete")
    check_theirs(HudiTable.open(path))
    HudiTable.open(path).upsert(rows(0, 3, ts=70))
    check_theirs(HudiTable.open(path))
    reference_finds_what_we_find(reference, path, name)


def check_theirs(table: HudiTable) -> None:
    """Every row is found; Apache Hudi leaves pairs of rows behind that it deleted in log files, whose keys lead to nothing."""
    metadata = open_metadata(table)
    keys = [key for key, *_ in placed(table)]
    assert {(key, index.partition_path, index.file_id) for key, (index,) in metadata.record_locations(keys).items()} == placed(table)
    pairs = {(row["name"], row["id"]) for row in table.to_arrow(columns=["name", "id"]).to_pylist()}
    record_keys = metadata.record_keys_of("secondary_index_by_name", {name for name, _ in pairs})
    assert pairs <= {(name, key) for name, keys in record_keys.items() for key in keys}


def test_we_continue_with_indexes_of_apache_hudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "t", "indexed_by_hudi"
    reference_upserts(reference, path, rows(0, 20), "COPY_ON_WRITE", "insert")
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    reference.sql(f"CREATE INDEX by_name ON {name} (name)", conf=ON)
    reference.sql(f"CREATE INDEX low ON {name} USING column_stats(name) OPTIONS(expr='lower')", conf=ON)
    table = HudiTable.open(path)
    check(table)
    change(table)
    reference_finds_what_we_find(reference, path, name)
    assert table.services.index("low", drop=True).dropped == ("expr_index_low",)
    index_names = reference.sql(f"SHOW INDEXES FROM {name}", conf=ON).column("index_name").to_pylist()
    assert sorted(index_names) == ["column_stats", "partition_stats", "record_index", "secondary_index_by_name"]
