"""An S3 server with conditional writes (moto), from an environment of its own: its packages contradict the constraints of pyhudi's."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.java_server import server_process


@contextmanager
def s3_server(folder: Path, port: int) -> Iterator[dict[str, str]]:
    """A server with a bucket `bucket`; the storage options of its tables. `PYHUDI_SERVERS_PYTHON` has moto."""
    python = os.environ["PYHUDI_SERVERS_PYTHON"]
    command = [python, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]
    with server_process(folder, port, command):
        url = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT"))
        yield {"key": "test", "secret": "test", "endpoint_url": url, "region": "us-east-1"}
