"""Writes docs/tutorial.md: the programs of `pyhudi.examples` with what they print.

    python -m scripts.write_tutorial

Each program runs in a process of its own. Tests run them again and compare (`tests/docs/test_tutorial.py`, `tests/spark/test_tutorial.py`).
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "tutorial.md"
#: The programs in their order, and those among them that need Spark.
EXAMPLES = ("table_lifecycle", "database", "pipeline", "backfill", "forget", "notebook")
ON_SPARK = frozenset({"table_lifecycle"})
_OPENING = """# Tutorial

Programs that ship with pyhudi, and what they print. Each runs by itself: `python -m pyhudi.examples.NAME [FOLDER]` leaves its tables in
FOLDER to be looked at. Two more print times and so are not shown here: `quickstart`, the first hour with Spark SQL, and `change_data`, a
day of a database's changes applied to tables of both types, with what it costs.

This page is made of the programs by `make tutorial`; the tests run them and compare.
"""


def main() -> None:
    """Run every example and write the page."""
    TARGET.write_text(render({name: _run(name) for name in EXAMPLES}), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")


def render(printed: dict[str, str]) -> str:
    """Return the page; `printed` is what each example prints."""
    return "\n".join([_OPENING, *(section(name, printed[name]) for name in EXAMPLES)])


def section(name: str, printed: str) -> str:
    """Return an example's part of the page: what it is about, its text where that is short, what it prints."""
    source = (ROOT / "src" / "pyhudi" / "examples" / f"{name}.py").read_text(encoding="utf-8")
    parsed = ast.parse(source)
    headline, _, about = (ast.get_docstring(parsed) or "").partition("\n")
    code = "\n".join(source.splitlines()[parsed.body[0].end_lineno :]).strip()
    lines = [f"## {headline.rstrip('.')}", "", about.strip(), "", f"`python -m pyhudi.examples.{name}`:", ""]
    if name not in ON_SPARK:
        lines += ["```py", code, "```", "", "It prints:", ""]
    trimmed = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    return "\n".join([*lines, "```text", trimmed, "```", ""])


def _run(name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", f"pyhudi.examples.{name}", str(Path(folder) / "tables")]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
