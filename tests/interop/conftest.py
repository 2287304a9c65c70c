"""The judge: one Apache Hudi for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.judge import Judge, why_no_judge
from tests.spark.conftest import spark  # noqa: F401 - the session of the Spark tests serves here too


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "interop" in item.path.parts:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    problem = why_no_judge()
    if problem:
        pytest.skip(f"Apache Hudi is not here: {problem}")
    with Judge(tmp_path_factory.mktemp("judge")) as started:
        yield started
