"""What an example does as a program: it makes its folder again, fills it, and prints what it did.

What an example prints is the same in every run, without times and names of files, so that the tutorial in `docs/` can show it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pyhudi.examples.workspace import recreate_folder


def run(name: str, show: Callable[[Path], None], arguments: list[str] | None) -> int:
    """Run an example; 0 when all went well.

    Args:
        name: Name of the example; its folder is called so unless the arguments name another.
        show: Does what the example does, in that folder.
        arguments: Those of the command line; None takes the process's own.
    """
    parser = argparse.ArgumentParser(prog=f"python -m pyhudi.examples.{name}")
    parser.add_argument("folder", nargs="?", default=f"{name}-tables", type=Path, help="where the tables shall stand")
    folder = parser.parse_args(arguments).folder.resolve()
    if not recreate_folder(folder, f".made-by-pyhudi-{name}"):
        print(f"{folder} exists and was not made by this program: name another folder.", file=sys.stderr)
        return 1
    show(folder)
    return 0


def rows(records: Iterable[dict[str, object]], names: Sequence[str]) -> None:
    """Print rows, one a line."""
    for row in records:
        print("   " + "  ".join(f"{name}={row[name]}" for name in names))
