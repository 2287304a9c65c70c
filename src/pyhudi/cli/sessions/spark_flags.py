"""Flags of `spark-sql` and `spark-submit` that say what the session is, for the commands that start one.

Rules: Spark's `SparkSubmitArguments`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from pyhudi.cli.shared.options_text import pairs

#: Spark's setting by the flag that states it.
_SETTINGS: Final = {
    "--master": "spark.master",
    "--deploy-mode": "spark.submit.deployMode",
    "--name": "spark.app.name",
    "--packages": "spark.jars.packages",
    "--exclude-packages": "spark.jars.excludes",
    "--repositories": "spark.jars.repositories",
    "--jars": "spark.jars",
    "--files": "spark.files",
    "--driver-memory": "spark.driver.memory",
    "--driver-cores": "spark.driver.cores",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
    "--num-executors": "spark.executor.instances",
    "--total-executor-cores": "spark.cores.max",
    "--queue": "spark.yarn.queue",
}
_HIVE: Final = ("spark.sql.catalogImplementation", "hive")


def takes_spark_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of `spark-submit`; it gets them as `conf` and by the names of the flags."""
    for flag, setting in reversed(_SETTINGS.items()):
        command = click.option(flag, help=f"Spark's {setting}.")(command)
    return click.option("--conf", "-c", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be given again.")(command)


def start_session(flags: Mapping[str, Any]) -> Any:
    """Start an enabled Spark session as the flags say, with a Hive catalog as `spark-sql` has it unless `--conf` says otherwise."""
    settings = dict([_HIVE])
    if not sys.stderr.isatty():
        settings["spark.ui.showConsoleProgress"] = "false"
    for flag, setting in _SETTINGS.items():
        value = flags[flag.removeprefix("--").replace("-", "_")]
        if value is not None:
            settings[setting] = value
    settings |= pairs(flags["conf"])
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    for setting, value in settings.items():
        builder = builder.config(setting, value)
    return importlib.import_module("pyhudi").enable(builder).getOrCreate()
