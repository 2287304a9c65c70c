"""SQL scripts with their expected answers: the text form, read and written.

A script is SQL text. A statement ends with `;` at the end of a line; what it answers is below it in lines that begin with `-->`.
Comments before a statement belong to it, and some of them say how it is run:

    -- [label]                       a name for `differences.toml`
    -- let NAME = instant TABLE N    {NAME} is the requested time of the N-th completed action of a table (-1: the last)
    -- let NAME = completed TABLE N  its completion time
    -- mask COLUMN, ...              these columns of the answer differ from run to run

`{folder}` is the database's folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

SCRIPTS: Final = Path(__file__).with_name("scripts")
ANSWER: Final = "-->"
_LABEL: Final = re.compile(r"-- \[(\w+)\]")
_LET: Final = re.compile(r"-- let (\w+) = (instant|completed) (\w+) (-?\d+)")
_MASK: Final = re.compile(r"-- mask (.+)")
_SETTING: Final = re.compile(r"SET\s+([\w.]+)\s*=", re.IGNORECASE)
_QUERY: Final = re.compile(r"(SELECT|WITH|SHOW|DESCRIBE|DESC|CALL|FROM|VALUES|TABLE)\b", re.IGNORECASE)
_WRITES: Final = re.compile(r"WITH\b.*\b(INSERT INTO|MERGE INTO|INSERT OVERWRITE)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement, the comments before it, and what it answers."""

    comments: tuple[str, ...]
    text: str  # without the semicolon
    answer: tuple[str, ...]

    @property
    def label(self) -> str | None:
        return next((match.group(1) for line in self.comments if (match := _LABEL.match(line))), None)

    @property
    def masked(self) -> frozenset[str]:
        """Columns of the answer that differ from run to run."""
        lists = [match.group(1) for line in self.comments if (match := _MASK.match(line))]
        return frozenset(name.strip() for names in lists for name in names.split(","))

    @property
    def is_query(self) -> bool:
        """Tell whether the answer's rows count; of other statements only whether they are accepted."""
        return _QUERY.match(self.text) is not None and _WRITES.match(self.text) is None

    @property
    def setting(self) -> str | None:
        """The key that a SET gives a value."""
        match = _SETTING.match(self.text)
        return match.group(1) if match else None

    def moments(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield name, `instant` or `completed`, table and number of each `let`."""
        for line in self.comments:
            if (match := _LET.match(line)) is not None:
                yield match.group(1), match.group(2), match.group(3), int(match.group(4))

    def answered(self, lines: Sequence[str]) -> Step:
        return replace(self, answer=tuple(lines))


def themes() -> list[str]:
    """Return the names of the scripts."""
    return sorted(path.stem for path in SCRIPTS.glob("*.sql"))


def read_script(theme: str) -> list[Step]:
    """Return the steps of a script."""
    return parse((SCRIPTS / f"{theme}.sql").read_text())


def write_script(theme: str, steps: Sequence[Step]) -> None:
    """Store a script again, with the answers that its steps have now."""
    (SCRIPTS / f"{theme}.sql").write_text(render(steps))


def parse(text: str) -> list[Step]:
    """Return the steps that a script's text states."""
    steps: list[Step] = []
    comments: list[str] = []
    statement: list[str] = []
    for line in text.splitlines():
        if line.startswith(ANSWER):
            steps[-1] = steps[-1].answered([*steps[-1].answer, line.removeprefix(ANSWER).removeprefix(" ")])
        elif not statement and (line.startswith("--") or not line.strip()):
            comments += [line] if line.strip() else []
        else:
            statement.append(line)
            if line.endswith(";"):
                steps.append(Step(tuple(comments), "\n".join(statement).removesuffix(";"), ()))
                comments, statement = [], []
    if statement or comments:
        raise ValueError(f"The script ends inside a statement: {' '.join([*comments, *statement])}")
    return steps


def render(steps: Sequence[Step]) -> str:
    """Return a script's text; `parse` reads it back."""
    return "\n".join(
        "\n".join([*step.comments, f"{step.text};", *(f"{ANSWER} {line}".rstrip() for line in step.answer), ""]) for step in steps
    )


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with `{name}` replaced where the name is known."""
    return re.sub(r"\{(\w+)\}", lambda result: values.get(result.group(1), result.group()), text)


def moment(table: Path, kind: str, number: int) -> str:
    """Return the requested or completion time of a completed action of a table of version 8 or later.

    Args:
        table: The table's base path.
        kind: `instant` or `completed`.
        number: Which one, from 1 on in the order of completion; negative ones count from the end.
    """
    # Hadoop's checksums begin with a dot.
    names = [path.name.split(".")[0] for path in (table / ".hoodie" / "timeline").glob("[0-9]*_*")]
    pairs = sorted((completed, requested) for requested, _, completed in (name.partition("_") for name in names))
    completed, requested = pairs[number - 1 if number > 0 else number]
    return requested if kind == "instant" else completed
