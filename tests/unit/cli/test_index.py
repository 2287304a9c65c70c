"""`python -m pyhudi index`."""

from __future__ import annotations

import json

import pyarrow as pa
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["index", *arguments])


def test_index_is_planned_built_and_dropped(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    table.insert([{"id": 1, "value": 1}])
    path = table.storage.uri
    planned = json.loads(run(path, "by_value", "value", "--mode", "schedule", "--json").output)
    assert planned["planned"] == ["record_index", "secondary_index_by_value"]
    assert run(path).output == "built record_index, secondary_index_by_value\n"
    assert run(path).output == "nothing to build\n"
    assert run(path, "by_value", "--drop").output == "dropped secondary_index_by_value\n"


def test_index_of_a_column_that_is_not_there_is_a_wrong_call(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    result = run(table.storage.uri, "by_value", "valeu")
    assert result.exit_code == 2
    assert "no column 'valeu'" in result.stderr
