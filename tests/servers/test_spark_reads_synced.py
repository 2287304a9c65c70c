"""Another Spark session reads synchronised tables by name, through a real Hive metastore."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi import HudiTable
from tests.servers.synced import HIVE, Synced

SCHEMA = pa.schema({"id": pa.int64(), "fare": pa.float64(), "city": pa.string()})


def make(path: Path, options: dict[str, str], table_type: str) -> HudiTable:
    table = HudiTable.create(path, SCHEMA, name=path.name, keys=["id"], partition_by=["city"], table_type=table_type)
    table.upsert([{"id": 1, "fare": 1.0, "city": "oslo"}, {"id": 2, "fare": 2.0, "city": "rome"}], options=options)
    table.upsert([{"id": 1, "fare": 10.0, "city": "oslo"}], options=options)
    return table


def test_a_session_reads_by_name_and_one_without_pyhudi_is_told(metastore: str, tmp_path: Path) -> None:
    options = {f"{HIVE}.enable": "true", f"{HIVE}.metastore.uris": metastore, f"{HIVE}.database": "rides"}
    cow = make(tmp_path / "cow", options, "COPY_ON_WRITE")
    make(tmp_path / "mor", options, "MERGE_ON_READ")
    plain = tmp_path / "plain" / "oslo"
    plain.mkdir(parents=True)
    pq.write_table(pa.table({"id": [5], "fare": [5.0], "city": ["oslo"]}), plain / "a.parquet")
    HudiTable.bootstrap(tmp_path / "plain_rides", plain.parent, name="plain_rides", keys=["id"], partition_by=["city"], options=options)

    command = [sys.executable, "-m", "tests.servers.metastore_session", metastore, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    answers = json.loads(run.stdout.splitlines()[-1])

    assert "pyhudi.enable" in answers["without"]
    now = [[1, 10.0, "oslo"], [2, 2.0, "rome"]]
    assert [answers[name] for name in ("cow", "mor", "mor_rt")] == [now] * 3
    assert answers["mor_ro"] == [[1, 1.0, "oslo"], [2, 2.0, "rome"]]
    assert answers["plain_rides"] == [[5, 5.0, "oslo"]]
    assert answers["written"] == [[7, 7.0, "lima"]]
    assert Synced(cow, metastore, "rides").partitions("cow").keys() == {("lima",), ("oslo",), ("rome",)}
    assert answers["hudi_cow"] == [["row_1", "bob", "2021/01/01"], ["row_2", "john", "2021/01/01"], ["row_3", "tom", "2021/01/02"]]
    assert Synced(cow, metastore, "rides").partitions("hudi_cow").keys() == {("2021/01/01",), ("2021/01/02",)}
