"""Servers that one run of these tests starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.servers.azure_server import azure_server
from tests.servers.gcs_server import Bucket, gcs_server
from tests.servers.java_server import free_port, hive_metastore, hive_server
from tests.servers.s3_server import s3_server
from tests.servers.stores import Store
from tests.slow_cases import slow_cases


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a real Hive metastore."""
    with hive_metastore(tmp_path_factory.mktemp("metastore"), free_port()) as uri:
        yield uri


@pytest.fixture(scope="module")
def boto3_path() -> Iterator[str]:
    """The folder of boto3, which comes from the environment of the servers; modules are imported from there too."""
    command = [os.environ["PYHUDI_SERVERS_PYTHON"], "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    sys.path.append(packages)
    yield packages
    sys.path.remove(packages)


@pytest.fixture(scope="session")
def server(metastore: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The JDBC URL of a server that takes Hive's SQL, on the same metastore."""
    if not os.environ.get("PYHUDI_REFERENCE_JAR"):
        pytest.skip("PYHUDI_REFERENCE_JAR is not set; `make test-servers` sets it")
    with hive_server(tmp_path_factory.mktemp("hive-server"), free_port(), metastore) as url:
        yield url


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The storage options of an S3 server with a bucket of the name `bucket`."""
    with s3_server(tmp_path_factory.mktemp("s3"), free_port()) as options:
        yield options


@pytest.fixture(scope="session")
def azure_options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The storage options of an Azure server with a container of the name `bucket`."""
    if not os.environ.get("PYHUDI_AZURITE"):
        pytest.skip("PYHUDI_AZURITE is not set; `make test-servers` sets it where npm is installed")
    with azure_server(tmp_path_factory.mktemp("azure"), free_port()) as options:
        yield options


@pytest.fixture(scope="session")
def gcs_options() -> Iterator[dict[str, str]]:
    """The storage options of a server of Google's API with a bucket of the name `bucket`."""
    with gcs_server(Bucket()) as options:
        yield options


def _store(request: pytest.FixtureRequest) -> Store:
    fixture = {"s3": "bucket", "gcs": "gcs_options", "azure": "azure_options"}[request.param]
    return Store(request.param, request.getfixturevalue(fixture))


#: Each kind of store.
store = pytest.fixture(_store, scope="session", params=("s3", "gcs", "azure"), name="store")
#: S3, and the others among the long proofs.
slow_store = pytest.fixture(_store, scope="session", params=slow_cases(("s3", "gcs", "azure"), {"gcs", "azure"}), name="slow_store")
