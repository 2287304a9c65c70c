"""`pyhudi log PATH`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyhudi.cli.main import main
from pyhudi.codec.log.log_writer import rollback_block

LOG = ".f-0_20260101000000000.log.1_0-1-2"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / LOG
    file.write_bytes(rollback_block("2", "1") + b"#HUDI#")
    return file


def test_anatomy_of_a_log_file_is_shown(log: Path) -> None:
    result = CliRunner().invoke(main, ["log", str(log)])
    assert result.exit_code == 0
    assert result.output.startswith(f"{LOG}: {log.stat().st_size} bytes, 2 blocks\n")
    assert "18  block type          0 COMMAND" in result.output


def test_blocks_are_shown_as_json(log: Path) -> None:
    result = CliRunner().invoke(main, ["log", "--json", str(log)])
    first, second = map(json.loads, result.output.splitlines())
    assert (first["type"], first["target_instant"], second["type"]) == ("COMMAND", "1", "CORRUPT")


def test_file_that_is_no_log_file_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"something")
    result = CliRunner().invoke(main, ["log", str(tmp_path / "x")])
    assert (result.exit_code, result.output) == (1, "error: x is not a log file of Hudi: it does not start with #HUDI#\n")


def test_file_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["log", str(tmp_path / "x")])
    assert result.exit_code == 2
    assert "There is no file 'x'" in result.output


def test_folder_is_no_log_file(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    result = CliRunner().invoke(main, ["log", str(tmp_path / "part")])
    assert result.exit_code == 2
    assert "is a folder: name one of the log files in it" in result.output


def test_storage_options_reach_the_storage_of_the_log_file(log: Path) -> None:
    result = CliRunner().invoke(main, ["log", str(log), "--storage-option", "anon=true"])
    assert result.exit_code == 2
    assert "takes no options, got anon" in result.output
