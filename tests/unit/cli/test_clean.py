"""`python -m pyhudi clean`."""

from __future__ import annotations

import json

import pyarrow as pa
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["clean", *arguments])


def test_old_file_slices_are_deleted_and_told(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    for value in range(5):
        table.upsert([{"id": 1, "value": value}], options={"hoodie.metadata.enable": "false"})
    planned = json.loads(run(table.storage.uri, "--retain-commits", "2", "--dry-run", "--json").output)
    assert (planned["state"], planned["policy"], planned["total_files"]) == ("planned", "KEEP_LATEST_COMMITS", 2)
    assert planned["total_bytes"] == sum(planned["files"][""].values()) > 0
    assert run(table.storage.uri, "--retain-file-versions", "3").output.startswith("clean ")
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 3
    assert run(table.storage.uri, "--retain-file-versions", "3").output == "nothing to clean\n"


def test_retention_of_nothing_is_a_wrong_call(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    assert run(table.storage.uri, "--retain-commits", "0").exit_code == 2
    assert run(table.storage.uri, "--policy", "KEEP_ALL").exit_code == 2
