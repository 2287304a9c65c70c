"""`pyhudi-submit` gives `spark-submit` its flags, the script behind our own file, and nothing of Apache Hudi's jar."""

from __future__ import annotations

import pytest

from pyhudi.cli.sessions import submit
from pyhudi.cli.sessions.submit import submit_command
from pyhudi.errors import UsageError

BUNDLE = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.1.0"


def test_flags_and_arguments_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--master", "local[2]", "--verbose", "--packages", BUNDLE, "--conf=spark.x=--y"]
    command = submit_command([*flags, "job.py", "--packages", BUNDLE])
    assert command[0].endswith("spark-submit")
    assert command[1:] == ["--master", "local[2]", "--verbose", "--conf=spark.x=--y", submit.__file__, "job.py", "--packages", BUNDLE]
    assert f"{BUNDLE} was removed from spark.jars.packages" in capsys.readouterr().err


def test_version_needs_no_script() -> None:
    assert submit_command(["--version"])[1:] == ["--version"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the Python script"),
        (["--master"], "name the Python script"),
        (["--class", "a.B", "app.jar"], "runs Python scripts, not app.jar"),
        (["--nosuch", "job.py"], r"spark-submit has no flag --nosuch\.$"),
        (["--conf", "spark.x=y", "--verbos", "job.py", "2026-11-29"], r"has no flag --verbos\. Did you mean '--verbose'\?"),
        (["--deploy-mode", "cluster", "job.py"], "PYHUDI_ENABLE"),
        (["--deploy-mode=cluster", "job.py"], "PYHUDI_ENABLE"),
        (["--conf", "spark.submit.deployMode=cluster", "job.py"], "PYHUDI_ENABLE"),
    ],
)
def test_wrong_calls_are_refused_by_name(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        submit_command(arguments)
