"""`pyhudi-submit`: `spark-submit` for Python scripts written for Apache Hudi, with its flags, without the jar.

Run as a file, this module is what `spark-submit` starts: it enables the sessions of the script that is its first argument, and runs it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pyhudi.errors import UsageError, did_you_mean

_USAGE_EXIT: Final = 2
#: Flags without a value, and those with one. Rule: Spark's `SparkSubmitOptionParser`.
_SWITCHES: Final = ("--help", "-h", "--supervise", "--usage-error", "--verbose", "-v", "--version", "--load-spark-defaults")
_WITH_VALUE: Final = (
    *("--archives", "--class", "--conf", "-c", "--deploy-mode", "--driver-class-path", "--driver-cores", "--driver-default-class-path"),
    *("--driver-java-options", "--driver-library-path", "--driver-memory", "--exclude-packages", "--executor-cores", "--executor-memory"),
    *("--files", "--jars", "--keytab", "--kill", "--master", "--name", "--num-executors", "--packages", "--principal", "--properties-file"),
    *("--proxy-user", "--py-files", "--queue", "--remote", "--repositories", "--status", "--total-executor-cores"),
)
_INFORMATION: Final = ("--help", "-h", "--version")
_CLUSTER: Final = (
    "the script runs in the cluster, where pyhudi-submit cannot enable its sessions: install pyhudi there, and use spark-submit with"
    " --conf spark.yarn.appMasterEnv.PYHUDI_ENABLE=1 on YARN, --conf spark.kubernetes.driverEnv.PYHUDI_ENABLE=1 on Kubernetes"
)


def main() -> None:
    """Replace this process by `spark-submit`; 2 is the exit code of a wrong call."""
    try:
        command = submit_command(sys.argv[1:])
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(_USAGE_EXIT)
    # Python of the driver is this one: it has pyhudi.
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.execv(command[0], command)  # noqa: S606 - the user's own command


def submit_command(arguments: Sequence[str]) -> list[str]:
    """Return the command of `spark-submit` for the arguments of `pyhudi-submit`.

    Raises:
        UsageError: no Python script is named, or it is to run in a cluster.
    """
    settings = importlib.import_module("pyhudi.spark.options.jar_settings")
    home = importlib.import_module("pyspark.find_spark_home")._find_spark_home()  # noqa: SLF001 - PySpark has no public name for it
    position = _script_position(arguments)
    flags, removals = settings.arguments_without_jar(arguments[:position])
    file_settings = importlib.import_module("pyhudi.spark.options.start_settings").file_settings(flags)
    changed, of_file = settings.changed_settings(file_settings)
    for removal in (*removals, *of_file):
        sys.stderr.write(f"{removal}\n")
    program = str(Path(home, "bin", "spark-submit"))
    if position == len(arguments):
        if any(flag in _INFORMATION for flag in flags):
            return [program, *flags]
        _check_names(flags)
        raise UsageError("name the Python script: pyhudi-submit [flags of spark-submit] SCRIPT.py [arguments]")
    script = arguments[position]
    if not script.endswith(".py"):
        _check_names(flags)
        raise UsageError(f"pyhudi-submit runs Python scripts, not {script}")
    if _value_of("--deploy-mode", flags) == "cluster" or "spark.submit.deployMode=cluster" in flags:
        raise UsageError(_CLUSTER)
    overrides = [part for key, value in changed.items() for part in ("--conf", f"{key}={value}")]
    return [program, *overrides, *flags, str(Path(__file__).resolve()), script, *arguments[position + 1 :]]


def _script_position(arguments: Sequence[str]) -> int:
    """Return where the first argument is that is neither a flag nor a flag's value."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        flag = arguments[position]
        position += 1 if flag in _SWITCHES or "=" in flag else 2
    return min(position, len(arguments))


def _check_names(flags: Sequence[str]) -> None:
    """Refuse a flag that Spark does not have: what follows it was taken for its value, and the script was missed."""
    position = 0
    while position < len(flags):
        name, is_assigned, _ = flags[position].partition("=")
        if name not in _SWITCHES and name not in _WITH_VALUE:
            raise UsageError(f"spark-submit has no flag {name}.{did_you_mean(name, (*_SWITCHES, *_WITH_VALUE))}")
        position += 1 if is_assigned or name in _SWITCHES else 2


def _value_of(name: str, flags: Sequence[str]) -> str | None:
    for position, flag in enumerate(flags):
        if flag == name and position + 1 < len(flags):
            return flags[position + 1]
        if flag.startswith(f"{name}="):
            return flag.partition("=")[2]
    return None


def _run_submitted() -> None:
    """Run the script that `spark-submit` was given behind this file."""
    run_script = importlib.import_module("pyhudi.cli.sessions.run_command").run_script
    try:
        run_script(sys.argv[1], sys.argv[2:])
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(_USAGE_EXIT)


if __name__ == "__main__":
    _run_submitted()
