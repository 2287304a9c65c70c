"""A ZooKeeper for tests, from the jars that pyspark brings."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def zookeeper_server(folder: Path) -> Iterator[str]:
    """Run a server with its data in a folder, and give its address."""
    pyspark = pytest.importorskip("pyspark")
    java = Path(os.environ.get("JAVA_HOME", "/usr"), "bin", "java")
    if not java.exists():
        pytest.skip("JAVA_HOME names no Java")
    jars = Path(pyspark.__file__).parent / "jars"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    main = "org.apache.zookeeper.server.ZooKeeperServerMain"
    (folder / "zoo.cfg").write_text(
        f"dataDir={folder}/data\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime=500\nadmin.enableServer=false\n"
    )
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [str(java), "-Xmx128m", "-cp", f"{jars}/*", main, str(folder / "zoo.cfg")], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        end = time.monotonic() + 120
        while True:
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            assert time.monotonic() < end
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
