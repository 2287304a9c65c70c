"""The commands that pages name exist, with the flags that pages give them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from pyhudi.cli.main import main
from tests.docs.pages import pages

_CALL = re.compile(r"(?:^\$ |`)(?:python -m )?pyhudi ([a-z][^`\n]*)", re.MULTILINE)


def fault_of(call: str) -> str | None:
    """Return what the words after `pyhudi` name that does not exist."""
    words, command, context = call.split(), main, click.Context(main)
    flags = {"--help"}
    while words and isinstance(command, click.Group):
        named = command.get_command(context, words[0])
        if named is None:
            return words[0]
        command, words = named, words[1:]  # type: ignore[assignment]
    flags |= {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    stated = [word.partition("=")[0].strip("[],") for word in words]
    return next((word for word in stated if word.startswith("--") and word not in flags), None)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_commands_and_flags_on_a_page_exist(page: Path) -> None:
    faults = {call: fault_of(call) for call in _CALL.findall(page.read_text(encoding="utf-8"))}
    assert {call: fault for call, fault in faults.items() if fault} == {}


def test_a_command_or_flag_that_does_not_exist_is_found() -> None:
    assert [fault_of(call) for call in ("shw PATH", "savepoint make PATH", "clean PATH --now", "clean PATH --dry-run")] == [
        "shw",
        "make",
        "--now",
        None,
    ]
