"""Options of a sync with the Glue catalog of moto's server, and its client, which comes from the environment of the servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.servers.synced import HIVE


@contextmanager
def packages_of_servers() -> Iterator[None]:
    """Make boto3 importable: it needs an older dateutil than pyhudi's environment has."""
    command = [os.environ["PYHUDI_SERVERS_PYTHON"], "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    sys.path.append(packages)
    yield
    sys.path.remove(packages)


def glue_options(server: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{HIVE}.mode": "glue",
        "hoodie.aws.glue.endpoint": server["endpoint_url"],
        "hoodie.aws.glue.region": server["region"],
        "hoodie.aws.access.key": server["key"],
        "hoodie.aws.secret.key": server["secret"],
    }
