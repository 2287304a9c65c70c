"""Apache Hudi's sync and ours of one table, in turn, on a real Hive metastore."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi, why_no_reference
from tests.servers.synced import HIVE, Synced
from tests.slow_cases import slow_cases

NAMES = {"COPY_ON_WRITE": ["trips"], "MERGE_ON_READ": ["trips", "trips_ro", "trips_rt"]}


def rows(ids: range, city: str) -> pa.Table:
    return pa.table({"id": list(ids), "fare": [1.5] * len(ids), "city": [city] * len(ids)})


@pytest.mark.parametrize("table_type", slow_cases(NAMES, {"MERGE_ON_READ"}))
def test_each_goes_on_with_the_entries_of_the_other(metastore: str, tmp_path: Path, table_type: str) -> None:
    if problem := why_no_reference():
        pytest.skip(problem)
    path, database = tmp_path / "trips", f"two_way_{tmp_path.name}".lower()
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.table.type": table_type,
        f"{HIVE}.enable": "true",
        f"{HIVE}.mode": "hms",
        f"{HIVE}.metastore.uris": metastore,
        f"{HIVE}.database": database,
    }
    names = NAMES[table_type]
    with ReferenceHudi(tmp_path / "reference") as reference:
        reference.write(path, rows(range(3), "oslo"), "overwrite", options)
        one = Synced(HudiTable.open(path), metastore, database)
        assert one.names() == names
        before = [one.entry(name) for name in names]
        assert {(table.action, table.added, table.dropped) for table in one.sync()} <= {("unchanged", 0, 0), ("updated", 0, 0)}
        for entry in before:
            ours = one.entry(entry.tableName)
            assert (ours.sd.cols, ours.partitionKeys, ours.sd.serdeInfo.parameters) == (
                entry.sd.cols,
                entry.partitionKeys,
                entry.sd.serdeInfo.parameters,
            )
            new = {key for key, text in ours.parameters.items() if entry.parameters.get(key) != text}
            assert new <= {"hudi_writer_version", "pyhudi_sync_partition_options", "spark.sql.create.version", "transient_lastDdlTime"}
        one.table.upsert(rows(range(3, 6), "rome"), {key: value for key, value in options.items() if HIVE in key})
        assert one.partitions(names[-1]).keys() == {("oslo",), ("rome",)}

        reference.write(path, rows(range(6, 9), "bonn"), "append", options)
        assert one.partitions(names[-1]).keys() == {("oslo",), ("rome",), ("bonn",)}
        one.table = HudiTable.open(path)
        assert {(table.added, table.changed, table.dropped) for table in one.sync()} == {(0, 0, 0)}
        one.table.delete(partitions=["city=rome"])
        one.table.alter(add={"tip": pa.float64()})
        one.sync()
        assert one.partitions(names[-1]).keys() == {("oslo",), ("bonn",)}
        more = rows(range(20, 22), "lima").append_column("tip", pa.array([1.0, 2.0])).select(["id", "fare", "tip", "city"])
        reference.write(path, more, "append", options)
        assert one.partitions(names[-1]).keys() == {("oslo",), ("lima",), ("bonn",)}
        one.table = HudiTable.open(path)
        assert [table.action for table in one.sync()] == ["unchanged"] * len(names) or one.sync()[0].action == "unchanged"
        assert [column.name for column in one.entry(names[0]).sd.cols][-1] == "tip"
