"""Fixtures that all tests may use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tables import unpack

# How long one example takes says more about the machine than about the code.
settings.register_profile("pyhudi", deadline=None)
settings.load_profile("pyhudi")


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
