"""Prints the coverage, by branch, of the packages that hold the format, the merge and the transaction, and holds it to its floors.

    python -m scripts.coverage_floors

Reads `.coverage`, which the first stage of `make test-unit` writes. Ends with status 1 when a package has less than its floor.
"""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path

from coverage import Coverage

from scripts.import_graph import ROOT, SOURCE

#: A floor this many points below what is covered is to be raised.
_SLACK = 4.0


def floors() -> dict[str, float]:
    """The least percentage for each package, from pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        stated: dict[str, float] = tomllib.load(file)["tool"]["pyhudi"]["coverage-floors"]
    return stated


def covered(data: Coverage, package: str) -> float:
    """The percentage of a package's lines and branches that the tests ran."""
    folder = Path(SOURCE, *package.split("."))
    return data.report(include=[f"{folder}/*"], file=io.StringIO(), ignore_errors=False)


def main() -> int:
    """Print a line for each package; return the exit status."""
    data = Coverage(data_file=str(ROOT / ".coverage"), config_file=str(ROOT / "pyproject.toml"))
    data.load()
    status = 0
    for package, floor in floors().items():
        percent = covered(data, package)
        verdict = ""
        if percent < floor:
            verdict, status = "TOO LOW: tests of what the change adds are missing", 1
        elif percent > floor + _SLACK:
            verdict = "the floor can be raised"
        print(f"coverage of {package:<26} {percent:5.1f} %, floor {floor:4.1f} % {verdict}".rstrip())
    return status


if __name__ == "__main__":
    sys.exit(main())
