"""Apache Hudi reads and writes tables that pyhudi has repaired: duplicates removed, partition metafiles migrated."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "v": pa.int64()})
UPSERT = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}


#: All commits but the last two are archived.
ARCHIVES = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"}


def rows(table: pa.Table) -> list[tuple[int, int]]:
    return sorted(zip(table["id"].to_pylist(), table["v"].to_pylist(), strict=True))


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_apache_hudi_continues_with_a_repaired_table(reference: ReferenceHudi, tmp_path: Path, table_type: str) -> None:
    path = tmp_path / "t"
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)
    for value, other in ((1, 2), (10, 3)):  # key 1 is in both files
        batch = [{"id": 1, "city": "oslo", "v": value}, {"id": other, "city": "oslo", "v": other}]
        table.insert(batch, options={"hoodie.parquet.small.file.limit": "0"})
    table.services.index("record_index")
    assert table.services.deduplicate("oslo").surplus_rows == 1
    assert [one.action for one in table.services.migrate_partition_metafiles()] == ["migrated"]
    assert rows(reference.read(path)) == [(1, 10), (2, 2), (3, 3)]
    assert rows(reference.read(path, hoodie__metadata__enable="false")) == [(1, 10), (2, 2), (3, 3)]
    changes = pa.table({"id": [1, 4], "city": ["oslo", "bern"], "v": [11, 4]}, schema=SCHEMA)
    reference.write(path, changes, options={"hoodie.table.name": "t", **UPSERT})
    expected = [(1, 11), (2, 2), (3, 3), (4, 4)]
    assert rows(reference.read(path)) == expected
    assert rows(HudiTable.open(path).to_arrow()) == expected
    HudiTable.open(path).upsert([{"id": 4, "city": "bern", "v": 5}])
    assert rows(reference.read(path)) == [(1, 11), (2, 2), (3, 3), (4, 5)]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_apache_hudi_finds_the_same_dangling_files(reference: ReferenceHudi, tmp_path: Path, table_type: str) -> None:
    """Of instants that are active, archived, unknown among the archived ones, and unknown after all."""
    path = tmp_path / "t"
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)
    table.insert([{"id": 1, "city": "oslo", "v": 1}], options=ARCHIVES)
    for value in range(2, 9):
        table.insert([{"id": value, "city": "rome", "v": value}], options={**ARCHIVES, "hoodie.parquet.small.file.limit": "0"})
        table.upsert([{"id": 1, "city": "oslo", "v": value}], options=ARCHIVES)
    bases = sorted((path / "rome").glob("*.parquet"), key=lambda file: file.name.rpartition("_")[2])
    archived, active = bases[1].name, bases[-1].name
    time = archived.rpartition("_")[2].removesuffix(".parquet")
    assert not list((path / ".hoodie" / "timeline").glob(f"{time}_*"))
    among = f"{int(time) + 1}"
    assert not [file for file in path.rglob("*") if among in file.name]
    surplus = [f"00000000{archived[8:]}", f"00000001{active[8:]}"]
    unknown = [archived.replace(time, among), archived.replace(time, "20991231000000000")]
    for name in (*surplus, *unknown):
        (path / "rome" / name).write_bytes(bases[0].read_bytes())
    files = [
        str(file.relative_to(path)) for folder in ("oslo", "rome") for file in (path / folder).iterdir() if "metadata" not in file.name
    ]
    planned = HudiTable.open(path).services.remove_dangling_files(dry_run=True)
    assert sorted(planned.files) == sorted(f"rome/{name}" for name in (*surplus, *unknown))
    assert sorted(reference.dangling(path, files)) == sorted(planned.files)
