"""The file with Spark's settings is found where Spark finds it, and a JVM that does not start is explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError

from pyhudi.errors import UsageError
from pyhudi.spark.options.start_failures import naming_start_failures
from pyhudi.spark.options.start_settings import file_settings


def test_settings_behind_links_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted, conf = tmp_path / "..data", tmp_path / "conf"
    mounted.mkdir()
    conf.mkdir()
    (mounted / "spark-defaults.conf").write_text("spark.app.name linked\n")
    (conf / "spark-defaults.conf").symlink_to(mounted / "spark-defaults.conf")
    monkeypatch.setenv("SPARK_CONF_DIR", str(conf))
    assert file_settings([]) == {"spark.app.name": "linked"}
    assert file_settings(["--properties-file", f"{conf}/spark-defaults.conf"]) == {"spark.app.name": "linked"}
    assert file_settings(["--properties-file", f"{conf}/other.conf"]) == {}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [("--master local", "has to end with pyspark-shell"), ("--properties-file /no/file pyspark-shell", "/no/file, which does not exist")],
)
def test_start_without_what_it_needs(arguments: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        with naming_start_failures():
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="has no bin/java"):
        fail()
    (tmp_path / "bin").mkdir()
    (tmp_path / "java").touch()
    (tmp_path / "bin" / "java").symlink_to(tmp_path / "java")
    with pytest.raises(UsageError, match=says):
        fail()
