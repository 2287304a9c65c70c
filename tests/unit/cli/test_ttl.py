"""`python -m pyhudi ttl`."""

from __future__ import annotations

import json

import pyarrow as pa
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["ttl", *arguments])


def test_nothing_expires_today_and_wrong_calls_are_told(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    table.upsert([{"id": 1, "city": "oslo"}])
    path = table.storage.uri
    assert run(path, "--days", "1").output == "no partition is dropped\n"
    planned = json.loads(run(path, "--days", "1", "--policy", "KEEP_BY_CREATION_TIME", "--dry-run", "--json").output)
    assert planned == {"state": "nothing to do", "instant": None, "partitions": [], "held_back": []}
    for wrong in ((path,), (path, "--days", "1", "--policy", "NEVER")):
        assert run(*wrong).exit_code == 2
