"""`python -m pyhudi compact`."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})
OFF = {"hoodie.compact.inline": "false"}


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    for value in range(3):
        table.upsert([{"id": 1, "value": value}], options=OFF)
    return table


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compact", *arguments])


def test_table_is_compacted_and_the_result_is_told(table) -> None:
    result = run(table.storage.uri)
    assert result.exit_code == 0
    assert "compaction" in result.output
    assert "1 rows in 1 files" in result.output
    assert table.to_arrow(mode="read_optimized").to_pylist() == [{"id": 1, "value": 2}]
    assert run(table.storage.uri).output == "nothing to compact\n"


def test_json_has_one_object_for_each_compaction(table) -> None:
    planned = json.loads(run(table.storage.uri, "--mode", "schedule", "--json").output)
    assert (planned["state"], planned["slices"], planned["log_files"]) == ("requested", 1, 2)
    done = json.loads(run(table.storage.uri, "--instant", planned["instant"], "--json").output)
    assert (done["state"], done["instant"], done["rows"]) == ("completed", planned["instant"], 1)


def test_dry_run_shows_and_leaves_the_table_alone(table) -> None:
    assert "compaction planned: 1 slices" in run(table.storage.uri, "--dry-run").output
    assert table.history().num_rows == 3


def test_log_files_are_joined(table) -> None:
    output = run(table.storage.uri, "--log", "--option", "hoodie.log.compaction.blocks.threshold=2").output
    assert output.startswith("logcompaction")


def test_strategy_and_options_are_passed_on(table) -> None:
    assert "1 slices" in run(table.storage.uri, "--strategy", "UnBoundedCompactionStrategy", "--dry-run").output
    few = ["--strategy", "LogFileNumBasedCompactionStrategy", "--option", "hoodie.compaction.logfile.num.threshold=3", "--dry-run"]
    assert run(table.storage.uri, *few).output == "nothing to compact\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--instant", "20200101000000000"], 2, "no pending compaction 20200101000000000"),
        (["--strategy", "Mine"], 1, "'Mine' is not served"),
        (["--option", "hoodie"], 2, "write KEY=VALUE"),
        (["--option", "hoodie.clean.automtic=x"], 2, "automatic"),
        (["--mode", "sometimes"], 2, "sometimes"),
    ],
)
def test_wrong_calls_end_with_one_line(table, arguments, code, message) -> None:
    result = run(table.storage.uri, *arguments)
    assert result.exit_code == code
    assert message in result.output
    assert "Traceback" not in result.output


def test_missing_table_ends_with_one_line(tmp_path) -> None:
    result = run(str(tmp_path / "none"))
    assert result.exit_code == 1
    assert "there is no Hudi table" in result.output


def test_progress_is_shown_on_request(table) -> None:
    assert "1 of 1 file groups" in run(table.storage.uri, "--progress").output


def test_module_is_a_command(table) -> None:
    done = subprocess.run([sys.executable, "-m", "pyhudi", "compact", table.storage.uri], capture_output=True, text=True, check=True)
    assert "completed" in done.stdout
