"""Runs the code of a page, from top to bottom, and compares what it prints with what the page says it prints.

- A `python` block runs. All blocks of a page share their names.
- A `sql` block runs statement by statement on Spark; what its last statement returns is shown.
- `<!-- spark -->` on the line above a `python` block says that it needs Spark; without Spark it is left out.
- A `text` block right below one of these is its output.
- The folder `/tmp/pyhudi` in a page stands for a temporary folder of the test.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = "/tmp/pyhudi"
#: Pages whose blocks need servers: tests/servers runs them.
SERVER_PAGES = frozenset({"catalog-sync.md", "object-stores.md"})

_BLOCK = re.compile(
    r"^(?P<mark><!-- spark -->\n)?```(?P<language>python|sql)\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of code on a page; `output` is None where the page shows none."""

    line: int
    language: str
    code: str
    output: str | None
    needs_spark: bool


def pages() -> list[Path]:
    """The pages written for users; notes on the design speak to developers."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that run."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            line=text.count("\n", 0, match.start("code")),
            language=match["language"],
            code=match["code"],
            output=match["output"],
            needs_spark=bool(match["mark"]) or match["language"] == "sql",
        )
        for match in _BLOCK.finditer(text)
    ]


def run(page: Path, folder: Path, spark: Any = None, addresses: Mapping[str, str] | None = None) -> None:
    """Run a page's blocks, those for Spark only when there is a session; addresses of servers are replaced by others."""
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.needs_spark and spark is None:
            continue
        code = block.code.replace(FOLDER, str(folder))
        for stated, actual in (addresses or {}).items():
            code = code.replace(stated, actual)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.language == "python":
                # Blank lines first, so that a traceback names the line of the page.
                exec(compile("\n" * block.line + code, str(page), "exec"), names)
            else:
                _run_sql(code, spark)
        if block.output is not None:
            expected = block.output.replace(FOLDER, str(folder))
            assert _plain(printed.getvalue()) == _plain(expected), f"{page.name}, line {block.line}"


def _run_sql(code: str, spark: Any) -> None:
    result = None
    for statement in code.split(";"):
        if statement.strip():
            result = spark.sql(statement)
    if result is not None and result.columns:
        result.show(truncate=False)


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
