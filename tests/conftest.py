"""Fixtures that all tests may use."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.tables import unpack

# How long one example takes says more about the machine than about the code.
settings.register_profile("pyhudi", deadline=None, max_examples=50)
settings.register_profile("slow", deadline=None, max_examples=200)

#: How many tests marked `slow` were left out.
LONG_PROOFS = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples a property gets that does not say so itself."""
    settings.load_profile("slow" if config.getoption("--slow") else "pyhudi")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long proofs be asked for."""
    parser.addoption("--slow", action="store_true", help="run the tests marked `slow`, too")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the cyclic garbage collector, which then passes over what they are: it took a fifth of the collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long proofs out unless they are asked for: not skipped one by one, which took some 3 ms each."""
    if config.getoption("--slow"):
        return
    fast, slow = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        (slow if item.get_closest_marker("slow") else fast).append(item)
    if slow:
        items[:] = fast
        config.hook.pytest_deselected(items=slow)
    config.stash[LONG_PROOFS] = len(slow)
    if hasattr(config, "workeroutput"):
        config.workeroutput["long_proofs"] = len(slow)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the number of long proofs over from a process of pytest-xdist; each of them collects all tests."""
    node.config.stash[LONG_PROOFS] = getattr(node, "workeroutput", {}).get("long_proofs", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many long proofs were left out, and how to run them."""
    if count := config.stash.get(LONG_PROOFS, 0):
        terminalreporter.write_line(f"{count} long proofs were left out; `make test-slow` runs them")


@pytest.fixture(scope="session")
def fixture_table(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a fixture table once a session and return its base path; tests must not change it.

    Example:
        HudiTable.open(fixture_table("cow/v6_empty"))
    """
    folder = tmp_path_factory.mktemp("tables")
    unpacked: dict[str, Path] = {}

    def table(name: str) -> Path:
        if name not in unpacked:
            unpacked[name] = unpack(name, folder)
        return unpacked[name]

    return table
