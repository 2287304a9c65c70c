"""The command line: `pyhudi`, or `python -m pyhudi`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Final

_INTERRUPTED: Final = 130


def run() -> None:
    """Run the command line."""
    try:
        command = importlib.import_module("pyhudi.cli.main").main
    except KeyboardInterrupt:  # no later one: the command ends with this code itself
        sys.stderr.write("interrupted\n")
        sys.exit(_INTERRUPTED)
    command(prog_name="pyhudi" if Path(sys.argv[0]).stem == "pyhudi" else "python -m pyhudi")


def submit() -> None:
    """Run `pyhudi-submit`, which is `spark-submit` for scripts of Apache Hudi; it needs PySpark."""
    if problem := importlib.import_module("pyhudi.spark.pyspark_release").problem_of_pyspark("pyhudi-submit"):
        sys.exit(problem)
    importlib.import_module("pyhudi.cli.sessions.submit").main()


if __name__ == "__main__":
    run()
