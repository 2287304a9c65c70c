"""Record the answers of Apache Hudi 1.2.0 to the SQL scripts of `tests/conformance`.

Run with Apache Hudi's variables set (`make interop` shows them): `python -m tests.interop.record_scripts [THEME ...]`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.play import play
from tests.conformance.script import Step, read_script, themes, write_script
from tests.interop.reference import ReferenceFailure, ReferenceHudi


def recorded(reference: ReferenceHudi, theme: str, folder: Path) -> list[Step]:
    """Return a script's steps with the answers that Apache Hudi gives now."""
    steps = read_script(theme)
    answers = list(play(reference.sql, steps, folder, f"conformance_{theme}", (ReferenceFailure,)))
    return [step.answered(answer) for step, answer in zip(steps, answers, strict=True)]


def main(chosen: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch, ReferenceHudi(Path(scratch) / "reference") as reference:
        for theme in chosen or themes():
            write_script(theme, recorded(reference, theme, Path(scratch) / theme))


if __name__ == "__main__":
    main(sys.argv[1:])
