"""`python -m pyhudi`: the command line."""

from __future__ import annotations

import importlib
import sys


def run() -> None:
    """Run the command line; it needs the packages of the extra `cli`."""
    try:
        command = importlib.import_module("pyhudi.cli.main").main
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("The command line needs click: pip install 'pyhudi[cli]'.")
    command(prog_name="python -m pyhudi")


if __name__ == "__main__":
    run()
