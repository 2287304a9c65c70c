"""What pyhudi asks of an engine: run a function over tasks, give the results back in order.

A task and the function must pickle, and so must a result: an engine may run them in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs independent tasks."""

    @property
    def name(self) -> str:
        """How commits and results call this engine."""
        ...

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return `function(task)` for every task, in the order of the tasks.

        When it returns or raises, no task is running any more: what comes next may delete what they wrote.

        Raises:
            Exception: the first failure in the order of the tasks.
        """
        ...


@runtime_checkable
class DistributedEngine(Protocol):
    """An engine whose tasks run in other processes."""

    @property
    def driver_host(self) -> str:
        """By which address they reach this process."""
        ...


def driver_host(engine: Engine) -> str | None:
    """Return by which address the tasks of an engine reach this process, None where they run in it.

    Example:
        >>> from pyhudi.engine.local_engine import LocalEngine
        >>> driver_host(LocalEngine())
    """
    return engine.driver_host if isinstance(engine, DistributedEngine) else None
