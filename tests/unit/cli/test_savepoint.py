"""`python -m pyhudi savepoint` and `restore`."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main
from tests.not_none import not_none

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def table(tmp_path) -> HudiTable:
    made = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    made.upsert([{"id": 1, "value": 1}])
    return made


def test_savepoints_are_made_listed_restored_and_deleted(table: HudiTable) -> None:
    path = table.storage.uri
    planned = json.loads(run("savepoint", "create", path, "--dry-run", "--json").output)
    assert run("savepoint", "list", path).output == ""
    made = json.loads(run("savepoint", "create", path, "--user", "ann", "--comment", "before", "--json").output)
    assert (made["instant"], made["files"]) == (planned["instant"], 1)
    assert run("savepoint", "list", path).output == f"savepoint {made['instant']}: 1 file in 1 partition (by ann, before)\n"
    table.upsert([{"id": 1, "value": 2}])
    dry = run("restore", path, made["instant"], "--dry-run").output
    assert "would be restored" in dry
    assert ".parquet" in dry
    assert table.to_arrow()["value"].to_pylist() == [2]
    done = json.loads(run("restore", path, made["instant"], "--json").output)
    assert (done["state"], [one["action"] for one in done["rolled_back"]], len(done["files"])) == ("completed", ["commit"], 1)
    assert table.to_arrow()["value"].to_pylist() == [1]
    assert run("restore", path, made["instant"]).output == f"nothing to do: {made['instant']} is the latest commit\n"
    assert run("savepoint", "delete", path, made["instant"], "--dry-run").output.endswith("would be deleted\n")
    assert run("savepoint", "delete", path, made["instant"]).output.endswith("is deleted\n")
    assert table.services.savepoints() == ()


def test_wrong_calls_are_told_in_a_line(table: HudiTable) -> None:
    for arguments in (("restore", table.storage.uri), ("savepoint", "delete", table.storage.uri, "1")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")


def test_the_latest_commit_is_rolled_back_and_no_earlier_one(table: HudiTable) -> None:
    path = table.storage.uri
    first = table.history()["requested"][0].as_py()
    latest = not_none(table.upsert([{"id": 1, "value": 2}]).instant)
    dry = run("rollback", path, latest, "--dry-run").output
    assert dry.startswith(f"commit {latest} would be rolled back: 1 files deleted\n  ")
    assert json.loads(run("rollback", path, latest, "--dry-run", "--json").output)["state"] == "planned"
    refused = run("rollback", path, first)
    assert (refused.exit_code, refused.stderr.startswith("error: ")) == (2, True)
    assert run("rollback", path, "yesterday").exit_code == 2
    assert table.to_arrow()["value"].to_pylist() == [2]
    done = json.loads(run("rollback", path, latest, "--json").output)
    assert (done["state"], done["instant"], done["action"], len(done["files"])) == ("completed", latest, "commit", 1)
    assert table.to_arrow()["value"].to_pylist() == [1]
    assert table.storage.stat(done["files"][0]) is None
