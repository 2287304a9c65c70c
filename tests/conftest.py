"""Fixtures that all tests may use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tables import unpack

# How long one example takes says more about the machine than about the code.
settings.register_profile("pyhudi", deadline=None, max_examples=50)
settings.register_profile("slow", deadline=None, max_examples=200)


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples a property gets that does not say so itself."""
    settings.load_profile("slow" if config.getoption("--slow") else "pyhudi")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long proofs be asked for."""
    parser.addoption("--slow", action="store_true", help="run the tests marked `slow`, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long proofs out unless they are asked for."""
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="a long proof; `make test-slow` runs it"))


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
