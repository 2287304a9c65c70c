"""The steps of the page about migrating that need another format's table: run on tables that Apache Hudi, deltalake and pyiceberg wrote.

The other steps are `python` blocks, which the tests of all pages run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi
from tests.docs.pages import ROOT
from tests.tables import unpack

PAGE = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["ann", "bob", None], "fare": [1.5, 2.5, 3.5]})


def run_step(heading: str, paths: dict[str, str], number: int = 0) -> dict[str, Any]:
    """Run a `py` block below a heading with other paths, and return its names."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    block = re.findall(r"^ *```py\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)[number]
    code = "\n".join(line.removeprefix("    ") if block.startswith("    ") else line for line in block.splitlines())
    for path, other in paths.items():
        assert path in code, f"the step does not name {path}"
        code = code.replace(path, other)
    names: dict[str, Any] = {}
    exec(compile(code, f"migrating.md, {heading}", "exec"), names)
    return names


def test_from_apache_hudi_on_the_jvm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_step("From Apache Hudi on the JVM", {"/data/orders": str(unpack("apache_hudi/all_types_v9", tmp_path))})
    assert names["table"].count() > 0
    assert f"{names['table'].config.name} 9 COPY_ON_WRITE" in capsys.readouterr().out


def test_from_delta_lake(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "delta"), ROWS)
    run_step("From Delta Lake", {"/data/delta/orders": f"{tmp_path}/delta", "/data/hudi/orders": f"{tmp_path}/hudi"})
    assert pyhudi.HudiTable.open(tmp_path / "hudi").to_arrow().sort_by("id").to_pylist() == ROWS.to_pylist()


def test_from_apache_iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog")
    stated = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/catalog.db", "WAREHOUSE": f"file://{tmp_path}/warehouse"}
    for name, value in stated.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__DEFAULT__{name}", value)
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", type(catalogs._ENV_CONFIG)())  # which pyiceberg reads when it is imported
    catalog = catalogs.load_catalog("default")
    catalog.create_namespace("shop")
    catalog.create_table("shop.orders", ROWS.schema).append(ROWS)
    run_step("From Apache Iceberg", {"/data/hudi/orders": f"{tmp_path}/hudi"})
    assert pyhudi.HudiTable.open(tmp_path / "hudi").to_arrow().sort_by("id").to_pylist() == ROWS.to_pylist()


def test_each_step_is_run() -> None:
    """The second step of tables of Apache Hudi is run in tests/spark/test_migrating_steps.py."""
    run = {"From Apache Hudi on the JVM": 2, "From Delta Lake": 1, "From Apache Iceberg": 1}
    sections = {section.partition("\n")[0]: section for section in PAGE.split("\n## ")[1:]}
    steps = {heading: len(re.findall(r"^ *```py$", section, re.MULTILINE)) for heading, section in sections.items()}
    assert {heading: count for heading, count in steps.items() if count} == run
