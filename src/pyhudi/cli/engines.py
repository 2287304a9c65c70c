"""What runs the tasks of a command, and how far it is."""

from __future__ import annotations

import importlib

import click

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine


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
