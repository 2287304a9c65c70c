"""Servers that one run of these tests starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.java_server import free_port, hive_metastore


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a real Hive metastore."""
    with hive_metastore(tmp_path_factory.mktemp("metastore"), free_port()) as uri:
        yield uri
