"""The examples of docstrings print what they say; those on Spark are in tests/spark/test_docstring_examples.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.import_graph import SOURCE
from tests.docs.docstrings import examples, run


@pytest.mark.parametrize(("module", "name"), examples(on_spark=False), ids=str)
def test_example_prints_what_it_says(module: str, name: str, tmp_path: Path) -> None:
    if report := run(module, name, tmp_path):
        pytest.fail(report, pytrace=False)


def test_no_example_is_left_out() -> None:
    assert [file.name for file in sorted(SOURCE.rglob("*.py")) if "doctest: +SKIP" in file.read_text(encoding="utf-8")] == []
