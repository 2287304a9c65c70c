"""The tutorial shows the programs as they are, and what they print."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

import pytest

from scripts.write_tutorial import EXAMPLES, ON_SPARK, TARGET, section


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ON_SPARK])
def test_example_prints_what_the_tutorial_shows(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "notebook" and (missing := [one for one in ("pandas", "polars", "duckdb") if importlib.util.find_spec(one) is None]):
        pytest.skip(f"{missing[0]} is not installed")
    example = importlib.import_module(f"pyhudi.examples.{name}")
    assert example.main([str(tmp_path / "tables")]) == 0
    assert section(name, capsys.readouterr().out) in TARGET.read_text(encoding="utf-8"), "run `make tutorial`"


def test_example_leaves_a_folder_of_somebody_else_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert importlib.import_module("pyhudi.examples.backfill").main([str(tmp_path)]) == 1
    assert "not made by this program" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
