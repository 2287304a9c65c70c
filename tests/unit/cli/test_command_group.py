"""All commands: flags that each of them takes, and names that are misspelled."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pyhudi.__main__ import run
from pyhudi.cli.main import main
from pyhudi.sql.call.registry import PROCEDURES

#: Commands that read no table themselves.
_WITHOUT_TABLE = {"completion", "run", "sql", "thriftserver"}
_PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command that is no group, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_each_command_on_a_table_takes_storage_options_and_prints_json() -> None:
    for words, command in commands():
        if words[0] not in _WITHOUT_TABLE:
            flags = {flag for parameter in command.params for flag in parameter.opts}
            assert flags >= {"--storage-option", "--json"}, words


@pytest.mark.parametrize("command", ["sql", "thriftserver"])
def test_command_that_needs_spark_says_what_to_install(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pyhudi.spark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 1
    assert result.stderr == f"error: pyhudi {command} needs PySpark: pip install 'pyhudi[spark]'.\n"


@pytest.mark.parametrize(
    ("words", "closest"),
    [(("shw",), "show"), (("savepoint", "craete"), "create"), (("repair", "dedup"), "deduplicate"), (("services", "rn"), "run")],
)
def test_a_misspelled_command_is_told_the_closest_one(words: tuple[str, ...], closest: str) -> None:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 2
    assert f"No such command '{words[-1]}'. Did you mean '{closest}'?" in result.output


def test_a_name_that_is_close_to_none_has_no_suggestion() -> None:
    assert "No such command 'xyzzy'.\n" in CliRunner().invoke(main, ["xyzzy"]).output


def test_the_page_names_only_commands_and_flags_that_exist() -> None:
    known = {" ".join(words): command for words, command in commands()}
    groups = {" ".join(words.split()[:length]) for words in known for length in range(1, words.count(" ") + 1)}
    rows = _PAGE.read_text("utf-8").split("## The commands of hudi-cli")[1].split("\n## ")[0].splitlines()
    named = [code for row in rows if row.startswith("| `") for code in re.findall(r"`pyhudi ([^`]+)`", row.rsplit("|", 2)[1])]
    procedures = {name for row in rows for name in re.findall(r"`CALL (\w+)`", row)}
    assert procedures <= PROCEDURES.keys()
    assert len(named) > 40
    for code in named:
        words = code.split()
        length = next(length for length in range(1, len(words) + 1) if " ".join(words[:length]) not in groups or length == len(words))
        name = " ".join(words[:length])
        assert name in known or name in groups, code
        if name in known:
            flags = {flag for parameter in known[name].params for flag in (*parameter.opts, *parameter.secondary_opts)}
            assert {word for word in words if word.startswith("--")} <= flags, code


def test_an_interrupt_while_the_command_line_is_loaded_ends_it_in_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupt)
    with pytest.raises(SystemExit, match="130"):
        run()
    assert capsys.readouterr().err == "interrupted\n"
