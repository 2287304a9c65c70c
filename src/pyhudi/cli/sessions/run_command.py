"""`run`: a Python script whose Spark sessions all speak Hudi, though it does not call `pyhudi.enable`."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import click

from pyhudi.errors import UsageError
from pyhudi.startup import enable_every_session

_FAILED = 1


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(*, script: str, arguments: Sequence[str]) -> None:
    """Run the Python SCRIPT with its ARGUMENTS; its Spark sessions speak Hudi.

    Settings that ask for Apache Hudi's jar (packages, extension, catalog, registrator) are removed from its sessions. It is run as Python
    runs it: as `__main__`, with its own exit code.
    """
    run_script(script, arguments)


def run_script(script: str, arguments: Sequence[str]) -> None:
    """Run a script in this process as the interpreter would.

    Raises:
        SystemExit: with the code that the script ends with; 1 when it fails, after its own traceback.
        UsageError: there is no such file.
    """
    if not Path(script).is_file():
        raise UsageError(f"there is no script {script}")
    enable_every_session()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception as error:  # noqa: BLE001 - it is the script's: printed as Python prints it
        traceback.print_exception(type(error), error, _frames_of(script, error.__traceback__))
        sys.exit(_FAILED)


def _frames_of(script: str, frames: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the script; all of it where the script was not reached."""
    frame = frames
    while frame is not None and frame.tb_frame.f_code.co_filename != script:
        frame = frame.tb_next
    return frame or frames
