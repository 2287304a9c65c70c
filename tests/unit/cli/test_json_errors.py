"""With `--json` an error of any command is one JSON object, the last line of standard error, and the exit code is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from pyhudi.cli.main import main
from tests.unit.cli.test_command_group import commands


def _calls() -> Iterator[tuple[str, ...]]:
    """Yield each command that prints JSON, with a value for each argument and option that it needs; `PATH` stands for the table."""
    for words, command in commands():
        if not any("--json" in parameter.opts for parameter in command.params):
            continue
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        needed = [word for one in command.params if isinstance(one, click.Option) and one.required for word in (one.opts[0], "1")]
        values = ["PATH" if one.name in ("path", "paths", "folder") else "20260101000000000" for one in arguments]
        yield (*words, *needed, *values)


CALLS = list(_calls())


def _invoke(call: Sequence[str], path: Path) -> Result:
    return CliRunner().invoke(main, [str(path) if word == "PATH" else word for word in call])


def _error(result: Result) -> dict[str, Any]:
    *_, last = result.stderr.splitlines()
    error: dict[str, Any] = json.loads(last)
    assert error["exit_code"] == result.exit_code
    return error


def test_all_commands_are_there() -> None:
    assert len(CALLS) > 40


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_missing_table(call: tuple[str, ...], tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    plain, result = _invoke(call, missing), _invoke((*call, "--json"), missing)
    assert plain.exit_code == result.exit_code
    if call[:2] == ("services", "run"):  # which reports each table, and continues with the next one
        assert json.loads(result.stdout)["state"] == "failed"
        return
    error = _error(result)
    assert result.stdout == ""
    assert error["error"] in ("TableNotFound", "UsageError", "StorageError", "OptionError")
    assert error["command"] == call[0]
    assert error["table"] in (str(missing), None)
    assert plain.stderr.startswith("error: ")


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_unknown_flag(call: tuple[str, ...], tmp_path: Path) -> None:
    plain, result = _invoke((*call, "--bogus"), tmp_path), _invoke((*call, "--bogus", "--json"), tmp_path)
    assert plain.exit_code == 2
    assert _error(result)["error"] == "UsageError"
    assert "--bogus" in _error(result)["message"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("clen", "PATH"), "No such command 'clen'. Did you mean 'clean'?"),
        (("--bogus", "clean", "PATH"), "--bogus"),
        (("clean",), "name the table"),
        (("savepoint", "create"), "Missing argument 'PATH'"),
    ],
    ids=["command", "flag before the command", "no table", "no argument"],
)
def test_wrong_calls(call: tuple[str, ...], message: str, tmp_path: Path) -> None:
    error = _error(_invoke((*call, "--json"), tmp_path))
    assert message in error["message"]
    assert (error["error"], error["exit_code"]) == ("UsageError", 2)


def test_table_is_named_where_another_argument_is_wrong(tmp_path: Path) -> None:
    error = _error(_invoke(("clean", "--engine", "none", "PATH", "--json"), tmp_path))
    assert error["table"] == str(tmp_path)


def test_notes_and_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyhudi.table.hudi_table.HudiTable.open", interrupt)
    result = _invoke(("clean", "PATH", "--json"), tmp_path)
    assert (_error(result)["error"], result.exit_code) == ("KeyboardInterrupt", 130)
