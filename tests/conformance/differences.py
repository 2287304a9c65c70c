"""The wanted differences from recorded answers: `differences.toml`, each with its row in `docs/differences.md`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True, slots=True)
class Difference:
    """What pyhudi answers to one statement of a script, and the row of the page that says why."""

    theme: str
    statement: str  # its label
    case: str  # the first cell of a row of docs/differences.md
    answer: tuple[str, ...]  # of an error a part of the message is enough

    def allows(self, answer: Sequence[str]) -> bool:
        """Tell whether an answer is the listed one."""
        stated = self.answer[0].removeprefix("error ")
        return stated in answer[0] if stated != self.answer[0] else tuple(answer) == self.answer


def listed(theme: str | None = None) -> list[Difference]:
    """Return the differences of a script, or of all."""
    with _FILE.open("rb") as file:
        content = tomllib.load(file)
    return [
        Difference(name, label, entry["case"], tuple(entry["pyhudi"].strip("\n").splitlines()))
        for name, entries in content.items()
        if theme in (None, name)
        for label, entry in entries.items()
    ]
