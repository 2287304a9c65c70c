"""Apache Hudi: one Apache Hudi for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.reference import ReferenceHudi, why_no_reference
from tests.spark.conftest import spark  # noqa: F401 - the session of the Spark tests serves here too


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "interop" in item.path.parts:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceHudi]:
    problem = why_no_reference()
    if problem:
        pytest.skip(f"Apache Hudi is not here: {problem}")
    with ReferenceHudi(tmp_path_factory.mktemp("reference")) as started:
        yield started
