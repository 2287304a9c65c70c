"""A table lives through what may confuse a sync; after each step the entries on a real metastore have its columns and partitions."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CatalogError
from tests.servers.synced import HIVE, Synced, new_trips
from tests.slow_cases import slow_cases

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "fare": pa.float32(), "n": pa.int32(), "at": pa.struct({"a": pa.int32()})})
EVOLVING = {"hoodie.schema.on.read.enable": "true"}
FEW = {"hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4", "hoodie.clean.commits.retained": "1"}
LATEST = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
RECREATE = {f"{HIVE}.recreate_table_on_error": "true"}
#: Table types and versions, and the version to which each is moved and back.
KINDS = [("COPY_ON_WRITE", 9, 8), ("MERGE_ON_READ", 9, 8), ("MERGE_ON_READ", 8, 9), ("COPY_ON_WRITE", 6, 8), ("MERGE_ON_READ", 6, 8)]
MODES = ["hms", "jdbc", "hiveql"]
CASES = [(mode, *kind) for mode in MODES for kind in KINDS]
FAST = {("hms", *KINDS[0]), ("hms", *KINDS[4])}


def check(one: Synced, without_rows: Collection[str] = (), options: Mapping[str, str] | None = None) -> None:
    """Synchronise, and compare the entries with the table; a second sync finds nothing to do."""
    one.sync(options)
    one.table = HudiTable.open(one.table.storage.uri)
    assert {table.action for table in one.sync()} == {"unchanged"}
    partitions = {str(row["city"]) for row in one.table.to_arrow(columns=["city"]).to_pylist()} | set(without_rows)
    for name in one.names():
        assert {values[0] for values in one.partitions(name)} == partitions
        entry = one.entry(name)
        columns = [column.name for column in (*entry.sd.cols, *entry.partitionKeys) if not column.name.startswith("_hoodie")]
        assert sorted(columns) == sorted(one.table.schema.names)


def put(one: Synced, number: int, city: str, options: Mapping[str, str] | None = None) -> None:
    row = {"id": number, "city": city, "at": {"a": number}, "count": number, "day": None}
    one.table.upsert([{name: row[name] for name in one.table.schema.names}], options={**EVOLVING, **(options or {})})


def check_created_again(one: Synced, columns: dict[str, pa.DataType], table_type: str, message: str) -> None:
    """Another table at the same place is refused with an advice, which helps."""
    shutil.rmtree(one.table.storage.uri)
    partition = next(iter(columns))
    one.table = HudiTable.create(
        one.table.storage.uri, pa.schema(columns), name="trips", keys=["id"], partition_by=[partition], table_type=table_type
    )
    one.table.insert([{"id": "1", "city": "1", "z": 1}])
    with pytest.raises(CatalogError, match=message):
        one.sync()
    assert {table.action for table in one.sync(RECREATE)} == {"recreated"}
    assert {table.action for table in one.sync()} == {"unchanged"}
    assert set(one.partitions("trips")) == {("1",)}


@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES) - FAST))
def test_the_catalog_follows(metastore: str, request: pytest.FixtureRequest, tmp_path: Path, case: tuple[str, str, int, int]) -> None:
    mode, table_type, version, other = case
    by_sql = {} if mode == "hms" else {f"{HIVE}.jdbcurl": request.getfixturevalue("server"), f"{HIVE}.sync_as_datasource": "false"}
    given = {"hoodie.write.table.version": str(version)}
    one = new_trips(metastore, tmp_path, "attacked", SCHEMA, given, options={f"{HIVE}.mode": mode, **by_sql}, table_type=table_type)
    first = {"fare": 1.0, "n": 1, "at": {"a": 1}}
    one.table.upsert([{"id": number, "city": city, **first} for number, city in enumerate(["oslo", "rome", "lima"])], options=EVOLVING)
    check(one)
    one.table.alter(rename={"n": "count"}, options=EVOLVING)
    check(one)
    one.table.alter(drop=["fare"], options=EVOLVING)  # what follows it has another type, which no metastore takes
    with pytest.raises(CatalogError, match=r"incompatible[\s\S]*recreate_table_on_error=true drops"):
        one.sync()
    check(one, options=RECREATE)
    one.table.alter(add={"day": pa.date32()}, options=EVOLVING)
    check(one)
    one.table.alter(retype={"count": pa.int64()}, options=EVOLVING)
    check(one)
    one.table.delete(partitions=["rome"])
    check(one)
    put(one, 5, "rome")
    check(one)
    one.table.delete(where="city = 'lima'")
    one.table.services.clean(options=LATEST)
    check(one, {"lima"})  # a file without rows is left, and the partition stays, as in Apache Hudi
    one.table.services.cluster()
    check(one)
    for number in range(8):
        put(one, 10 + number, f"c{number}", FEW)
    one.table.services.archive(options=FEW)
    check(one)
    row = {"id": 50, "city": "oslo", "at": {"a": 1}, "count": 1, "day": None}
    one.table.overwrite([row], dynamic=True)
    check(one)
    one.table.overwrite([{**row, "city": "bonn"}])
    check(one)
    for number, target in enumerate((other, version)):
        change = one.table.services.upgrade if target > one.table.config.version else one.table.services.downgrade
        change(target)
        check(one)
        put(one, 60 + number, f"v{target}")
        check(one)
    savepoint = one.table.savepoint()
    put(one, 70, "kiel")
    check(one)
    one.table.restore(savepoint.instant)
    check(one)
    check_created_again(one, {"city": pa.string(), "id": pa.string(), "z": pa.int32()}, table_type, "incompatible")
    check_created_again(one, {"z": pa.int32(), "id": pa.string(), "city": pa.string()}, table_type, "partition columns")
