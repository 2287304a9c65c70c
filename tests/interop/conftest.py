"""Apache Hudi: one Apache Hudi for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.interop.reference import ReferenceHudi, why_no_reference
from tests.spark.conftest import spark  # noqa: F401 - the session of the Spark tests serves here too

#: How many rows both engines read alike, over all tests of a run: figure F10 of docs/reliability.md.
COMPARED = pytest.StashKey[int]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "interop" in item.path.parts:
            item.add_marker(pytest.mark.interop)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a process of pytest-xdist compared."""
    node.config.stash[COMPARED] = node.config.stash.get(COMPARED, 0) + getattr(node, "workeroutput", {}).get("compared", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many rows were compared."""
    if count := config.stash.get(COMPARED, 0):
        terminalreporter.write_line(f"{count:,} rows were read alike by Apache Hudi and pyhudi")


@pytest.fixture(scope="session")
def reference(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceHudi]:
    problem = why_no_reference()
    if problem:
        pytest.skip(f"Apache Hudi is not here: {problem}")
    with ReferenceHudi(tmp_path_factory.mktemp("reference")) as started:
        yield started
        count_compared(pytestconfig, started)


def count_compared(config: pytest.Config, reference: ReferenceHudi) -> None:
    """Add the rows that were compared with an Apache Hudi that ends now."""
    config.stash[COMPARED] = config.stash.get(COMPARED, 0) + reference.compared
    if hasattr(config, "workeroutput"):
        config.workeroutput["compared"] = config.stash[COMPARED]
