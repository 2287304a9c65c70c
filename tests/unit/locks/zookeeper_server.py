"""A ZooKeeper for tests, from the jars that pyspark brings, which can be stopped and started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


def zookeeper_options(address: str, timeout_ms: int) -> dict[str, str]:
    """Return the options of a lock of a server, whose sessions and connections have one time limit."""
    of_zookeeper = {
        "url": address,
        "base_path": "/hudi/locks",
        "session_timeout_ms": str(timeout_ms),
        "connection_timeout_ms": str(timeout_ms),
    }
    prefixed = {f"hoodie.write.lock.zookeeper.{name}": value for name, value in of_zookeeper.items()}
    return {"hoodie.write.lock.provider": "ZookeeperBasedLockProvider", **prefixed}


class ZooKeeperServer:
    """A server with its data in a folder, on one port as often as it is started."""

    def __init__(self, folder: Path) -> None:
        pyspark = pytest.importorskip("pyspark")
        java = Path(os.environ.get("JAVA_HOME", "/usr"), "bin", "java")
        if not java.exists():
            pytest.skip("JAVA_HOME names no Java")
        jars = Path(pyspark.__file__).parent / "jars"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        (folder / "zoo.cfg").write_text(
            f"dataDir={folder}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\ntickTime=500\nadmin.enableServer=false\n"
        )
        self._folder = folder
        self._command = [str(java), "-Xmx128m", "-cp", f"{jars}/*", main, str(folder / "zoo.cfg")]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        with (self._folder / "log").open("a") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 120
        while True:
            assert self._process.poll() is None, (self._folder / "log").read_text()[-2000:]
            assert time.monotonic() < end
            if self._serves():
                return
            time.sleep(0.1)

    def _serves(self) -> bool:
        """Tell whether requests are served: a connection that is made before that may never be answered."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as one:
            one.settimeout(1)
            one.sendall(b"srvr")
            return one.recv(1 << 12).startswith(b"Zookeeper version")
        return False

    def kill(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self, *, with_data: bool = True) -> None:
        """Kill the server and start it, with what it had stored or with nothing."""
        self.kill()
        if not with_data:
            shutil.rmtree(self._folder / "data")
        self.start()

    def suspend(self) -> None:
        """Let the server hang, until `resume`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the server go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def restartable_zookeeper(folder: Path) -> Iterator[ZooKeeperServer]:
    """Run a server with its data in a folder."""
    server = ZooKeeperServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def zookeeper_server(folder: Path) -> Iterator[str]:
    """Run a server with its data in a folder, and give its address."""
    with restartable_zookeeper(folder) as server:
        yield server.address
