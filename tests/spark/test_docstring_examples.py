"""The examples of docstrings that use Spark print what they say; the others are run by tests/docs/test_docstring_examples.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.docs.docstrings import examples, run


@pytest.mark.parametrize(("module", "name"), examples(on_spark=True), ids=str)
def test_example_prints_what_it_says(module: str, name: str, tmp_path: Path, spark: SparkSession) -> None:
    if report := run(module, name, tmp_path, spark):
        pytest.fail(report, pytrace=False)
