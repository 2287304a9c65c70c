"""Enabling every session waits for PySpark, patches its builder once, and costs an interpreter without PySpark nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyhudi

SOURCE = Path(pyhudi.__file__).parent.parent
SESSION = """
class SparkSession:
    class Builder:
        _options = {}
        def getOrCreate(self):
            return "plain"
"""
SQL_ENABLE = """
def build_session(original, builder):
    return "enabled " + original(builder)
"""


def run(program: str, folder: Path, **variables: str) -> str:
    """Run a program in a new interpreter that finds `pyhudi.pth` in a folder; the variables are added to its environment."""
    environment = {name: value for name, value in os.environ.items() if name != "PYHUDI_ENABLE"}
    (folder / "pyhudi.pth").write_text((SOURCE / "pyhudi.pth").read_text())
    start = f"import site; site.addsitedir({str(folder)!r})\n"
    answer = subprocess.run(
        [sys.executable, "-c", start + program],
        env={**environment, "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)]), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stderr == ""
    return answer.stdout.strip()


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A folder with a package `pyspark.sql` that starts no JVM."""
    package = tmp_path / "pyspark" / "sql"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("from pyspark.sql.session import SparkSession\n")
    (package / "session.py").write_text(SESSION)
    return tmp_path


BUILD = "from pyspark.sql import SparkSession; print(SparkSession.Builder().getOrCreate())"
STAND_IN_ENABLE = (
    f"import sys, types; m = types.ModuleType('pyhudi.sql.enable'); exec({SQL_ENABLE!r}, m.__dict__); sys.modules[m.__name__] = m\n"
)


@pytest.mark.parametrize(
    ("value", "answer"), [("1", "enabled plain"), ("true", "enabled plain"), ("0", "plain"), ("False", "plain"), ("", "plain")]
)
def test_environment_variable_enables_sessions(value: str, answer: str, stand_in: Path) -> None:
    assert run(STAND_IN_ENABLE + BUILD, stand_in, PYHUDI_ENABLE=value) == answer


def test_without_the_variable_nothing_of_pyhudi_is_imported(stand_in: Path) -> None:
    assert run(BUILD + "; import sys; print('pyhudi' in sys.modules)", stand_in).split() == ["plain", "False"]


def test_interpreters_that_do_not_use_spark_do_not_import_it(stand_in: Path) -> None:
    program = "import sys; print('pyhudi.startup' in sys.modules, 'pyspark' in sys.modules)"
    assert run(program, stand_in, PYHUDI_ENABLE="1") == "True False"


def test_enabling_twice_is_enabling_once(stand_in: Path) -> None:
    twice = "from pyhudi.startup import enable_every_session as e; e(); e(); import pyspark.sql; e(); e(); import sys\n"
    count = "; print([type(f).__name__ for f in sys.meta_path].count('_SessionImportHook'))"
    assert run(STAND_IN_ENABLE + twice + BUILD + count, stand_in) == "enabled plain\n0"
