"""The engine whose tasks are Spark's: the function and its tasks go to Python workers, the results come back to the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession

from pyhudi.engine.engine_protocol import Result, Task
from pyhudi.errors import HudiError
from pyhudi.spark.jvm.error_translation import translate_pickling_errors
from pyhudi.spark.jvm.interrupted_jobs import jobs_end_with_call

_LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class _Failed:
    """A `HudiError` of a task: it travels as a value, so that the driver raises it as it was and not as a worker's stack."""

    error: HudiError


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Runs every task as one task of a Spark job.

    Results go through the driver's memory: they must be small.
    """

    session: SparkSession

    @property
    def name(self) -> str:
        """`spark`."""
        return "spark"

    @property
    def driver_host(self) -> str:
        """The loopback address for a master of this machine, else the address that executors have of the driver."""
        context = self.session.sparkContext
        return _LOOPBACK if str(context.master).startswith("local") else context.getConf().get("spark.driver.host", _LOOPBACK) or _LOOPBACK

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return the results in the order of the tasks; see the protocol."""
        if not tasks:
            return []

        def answered(task: Task) -> Result | _Failed:
            try:
                return function(task)
            except HudiError as error:
                return _Failed(error)

        context = self.session.sparkContext
        with translate_pickling_errors(), jobs_end_with_call(context):
            answers = context.parallelize(tasks, len(tasks)).map(answered).collect()
        results: list[Result] = []
        for answer in answers:
            if isinstance(answer, _Failed):
                raise answer.error
            results.append(answer)
        return results
