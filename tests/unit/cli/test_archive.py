"""`python -m pyhudi archive`."""

from __future__ import annotations

import json

import pyarrow as pa
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["archive", *arguments])


def test_old_instants_are_archived_and_told(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    for value in range(5):
        table.upsert([{"id": 1, "value": value}], options={"hoodie.metadata.enable": "false"})
    limits = ("--min-commits", "2", "--option", "hoodie.keep.max.commits=3")
    planned = json.loads(run(table.storage.uri, *limits, "--dry-run", "--json").output)
    assert planned == {
        "state": "planned",
        "instants": table.history()["requested"].to_pylist()[:3],
        "metadata_instants": [],
        "kept_because": "",
    }
    assert run(table.storage.uri, *limits, "--dry-run").output.startswith("would archive 3 instants, ")
    assert run(table.storage.uri, *limits).output.startswith("archived 3 instants, ")
    assert run(table.storage.uri, *limits).output == "archived nothing, of the metadata table nothing\n"
    assert table.history().num_rows == 5


def test_limits_that_contradict_each_other_are_a_wrong_call(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    result = run(table.storage.uri, "--min-commits", "30")
    assert result.exit_code == 2
    assert "hoodie.keep.max.commits=30 must be more than" in result.stderr
