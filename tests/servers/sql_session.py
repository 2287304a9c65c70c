"""A Spark session of its own that runs SQL statements and prints, as JSON, the rows or the error of each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import pyhudi
from pyhudi.errors import HudiError


def answers(statements: Sequence[str], folder: Path) -> list[Any]:
    """Run statements in another process: for each the list of its rows, or the message of its error."""
    command = [sys.executable, "-m", "tests.servers.sql_session", str(folder), *statements]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    result: list[Any] = json.loads(run.stdout.splitlines()[-1])
    return result


def main(folder: str, *statements: str) -> None:
    """Run the statements one after the other."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.warehouse.dir", folder)
    spark = pyhudi.enable(builder).getOrCreate()
    outcomes: list[object] = []
    for statement in statements:
        try:
            outcomes.append([list(row) for row in spark.sql(statement).collect()])
        except HudiError as error:
            outcomes.append(str(error))
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
