"""Arguments that several commands share: the engine that runs the tasks, and progress."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.progress import without_progress
from pyhudi.service.service_engine import Progress


def chosen_engine(name: str, threads: int | None, *, master: str | None = None, memory: str | None = None) -> Engine:
    """Return the engine `local`, with so many threads, or `spark`, of a master and with memory as Spark writes them."""
    if name == "local":
        return LocalEngine() if threads is None else LocalEngine(threads)
    # Imported by name, so that the command works without PySpark.
    engine: Engine = importlib.import_module("pyhudi.spark.own_session").session_engine(master, memory)
    return engine


def job_engine(values: Mapping[str, Any]) -> Engine:
    """Return the engine that the flags of a service ask for; a master of Spark asks for Spark."""
    master, memory = values["spark_master"], values["spark_memory"]
    name = values["engine"] or ("local" if master is None else "spark")
    if name == "local" and (master or memory):
        click.echo("--spark-master and --spark-memory have no effect on the local engine: --engine spark runs tasks on Spark", err=True)
    return chosen_engine(name, values["threads"] or values["parallelism"], master=master, memory=memory)


@contextlib.contextmanager
def progress_of(flag: bool | None) -> Iterator[Progress | None]:
    """Yield what `--progress` asks for: lines on standard error, or nothing; without the flag a terminal has a bar."""
    if flag is None:
        yield None
        return
    with without_progress():
        yield _show_progress if flag else None


def _show_progress(done: int, count: int) -> None:
    """Say on standard error how many tasks of how many are done."""
    click.echo(f"\r{done} of {count} file groups", nl=done == count, err=True)
