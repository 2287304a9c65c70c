"""Arguments that several commands share: the engine that runs the tasks, options of the form KEY=VALUE, and progress."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

import click

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import OptionError


def chosen_engine(name: str, threads: int | None) -> Engine:
    """Return the engine `local`, with so many threads, or `spark`."""
    if name == "local":
        return LocalEngine() if threads is None else LocalEngine(threads)
    # Imported by name, so that the command works without PySpark.
    engine: Engine = importlib.import_module("pyhudi.spark.own_session").session_engine()
    return engine


def show_progress(done: int, count: int) -> None:
    """Say on standard error how many tasks of how many are done."""
    click.echo(f"\r{done} of {count} file groups", nl=done == count, err=True)


def pairs(strings: Iterable[str]) -> dict[str, str]:
    """Return the options that texts state.

    Raises:
        OptionError: a text is none.
    """
    result = {}
    for text in strings:
        key, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"'{text}' is no option: write KEY=VALUE.")
        result[key] = value
    return result
