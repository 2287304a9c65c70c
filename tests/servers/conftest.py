"""Servers that one run of these tests starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.java_server import free_port, hive_metastore
from tests.servers.s3_server import s3_server


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a real Hive metastore."""
    with hive_metastore(tmp_path_factory.mktemp("metastore"), free_port()) as uri:
        yield uri


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The storage options of an S3 server with a bucket of the name `bucket`."""
    with s3_server(tmp_path_factory.mktemp("s3"), free_port()) as options:
        yield options
