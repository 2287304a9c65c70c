"""A script on an engine: its statements in turn, in a database of their own, and what each answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from tests.conformance.answers import OK, error_answer, rows_answer
from tests.conformance.script import Step, filled, moment

#: Runs a statement and gives its rows; an error is an exception whose message is the engine's.
Engine = Callable[[str], pa.Table]


def play(engine: Engine, steps: Sequence[Step], folder: Path, database: str, refusals: tuple[type[Exception], ...]) -> Iterator[list[str]]:
    """Run a script and yield each step's answer.

    Args:
        engine: Where the statements run.
        steps: The script.
        folder: An empty folder for the tables.
        database: A name for the database, which is dropped at the end.
        refusals: What an engine raises for a statement that it refuses; anything else is a defect, and no answer is like it.
    """
    engine(f"CREATE DATABASE {database} LOCATION '{folder}'")
    engine(f"USE {database}")
    values = {"folder": str(folder), "database": database}
    try:
        for step in steps:
            for name, kind, table, number in step.moments():
                values[name] = moment(folder / table, kind, number)
            try:
                rows = engine(filled(step.text, values))
            except refusals as error:
                yield error_answer(str(error), str(folder))
            except Exception as error:  # noqa: BLE001 - a defect of the engine: its answer, so that the other statements are seen too
                yield [f"defect {type(error).__name__}: {str(error)[:500]}"]
            else:
                yield rows_answer(rows, step.masked, str(folder)) if step.is_query else list(OK)
    finally:
        engine("USE default")
        for key in {step.setting for step in steps} - {None}:
            engine(f"RESET {key}")
        engine(f"DROP DATABASE {database} CASCADE")
