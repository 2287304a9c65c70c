"""The lock of Apache Hudi's ZooKeeper providers: the first of the ephemeral, numbered nodes below the path of the lock.

Rules: `BaseZookeeperBasedLockProvider`, Curator's `InterProcessMutex`; docs/format/concurrency.md#lock-providers. Curator's names of
nodes are used, so that pyhudi and Apache Hudi queue in one line. A node ends with the session of its holder, also when that one is killed.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.clients.library_logs import keep_off_terminal
from pyhudi.errors import OptionError, StorageError
from pyhudi.locks.lock_provider import ProviderLock, hash_of_uri, other_table_note
from pyhudi.locks.zookeeper_node import LockNode
from pyhudi.spec.options import Options
from pyhudi.spec.table import table_keys
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties

CLASS: Final = "ZookeeperBasedLockProvider"
IMPLICIT_CLASS: Final = "ZookeeperBasedImplicitBasePathLockProvider"
URL: Final = "hoodie.write.lock.zookeeper.url"
PORT: Final = "hoodie.write.lock.zookeeper.port"
BASE_PATH: Final = "hoodie.write.lock.zookeeper.base_path"
LOCK_KEY: Final = "hoodie.write.lock.zookeeper.lock_key"
SESSION: Final = "hoodie.write.lock.zookeeper.session_timeout_ms"
CONNECTION: Final = "hoodie.write.lock.zookeeper.connection_timeout_ms"
_DEFAULT_PORT: Final = "2181"
#: A name or an address, the one of version 6 in brackets, and a port.
_SERVER: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+)(:[0-9]{1,5})?")
_IMPLICIT_KEY: Final = "lock_key"


@dataclass(frozen=True, slots=True)
class ZooKeeperProvider:
    """Locks tables by the node `base_path`/`lock_key` of a ZooKeeper, by default with the table's name as key; without a base path the node
    is named after the table's URI. Times are in seconds.
    """

    url: str
    base_path: str = ""
    lock_key: str = ""
    session_timeout_s: float = 60.0
    connection_timeout_s: float = 15.0

    @property
    def identity(self) -> str:
        """The class and the path of the node; the addresses of the servers may differ from writer to writer."""
        return f"{CLASS} at '{self.base_path}/{self.lock_key or '<table name>'}'" if self.base_path else IMPLICIT_CLASS

    def lock(self, storage: Storage, domain: str) -> ProviderLock:  # noqa: ARG002 - the node of an ended process vanishes by itself
        """Return the lock of a table."""
        if not self.base_path:
            return ZooKeeperLock(self, f"{implicit_base_path(storage.uri)}/{_IMPLICIT_KEY}", storage.uri)
        key = self.lock_key or load_properties(storage).get(table_keys.NAME, "")
        return ZooKeeperLock(self, f"{self.base_path}/{key}", storage.uri)


def zookeeper_provider(options: Options) -> ZooKeeperProvider:
    """Return what the options of the class with a base path say.

    Raises:
        OptionError: the servers or the base path are missing, or wrong.
    """
    base_path = options.text(BASE_PATH).strip()
    if not base_path.startswith("/") or not base_path.strip("/"):
        raise OptionError(f"{CLASS} needs {BASE_PATH}, an absolute path such as /hudi/locks below which the nodes of locks are.")
    return _provider(options, CLASS, base_path.rstrip("/"), options.text(LOCK_KEY).strip().strip("/"))


def implicit_zookeeper_provider(options: Options) -> ZooKeeperProvider:
    """Return what the options of the class say that names the node after the table; errors as of `zookeeper_provider`."""
    stated = next((name for name in (BASE_PATH, LOCK_KEY) if options.get(name) is not None), None)
    if stated is not None:
        raise OptionError(
            f"{stated} has no effect on {IMPLICIT_CLASS}, which names its node after the table; take {CLASS}, or leave it out."
        )
    return _provider(options, IMPLICIT_CLASS, "", "")


def implicit_base_path(uri: str) -> str:
    """Return the path of the node of a table, as Apache Hudi forms it from the table's base path.

    Example:
        >>> implicit_base_path("s3a://b/t")
        '/tmp/45205BCC2F82AB53'
    """
    return f"/tmp/{hash_of_uri(uri)}"  # noqa: S108 - a node of ZooKeeper, not a folder


def _provider(options: Options, name: str, base_path: str, lock_key: str) -> ZooKeeperProvider:
    url, port = options.text(URL).strip(), options.text(PORT).strip()
    if not url:
        raise OptionError(f"{name} needs {URL}, the servers such as zk1:2181,zk2:2181.")
    servers = url.partition("/")[0].split(",")
    wrong = [server for server in servers if not _SERVER.fullmatch(server.strip())]
    if wrong:
        raise OptionError(f"{URL}={url} is not possible: '{wrong[0].strip()}' is no server. Write host:port, with commas between servers.")
    if port and any((server.rpartition(":")[2] if ":" in server else _DEFAULT_PORT) != port for server in servers):
        raise OptionError(f"{PORT}={port} has no effect: Apache Hudi takes the ports that {URL} names. Write host:port there.")
    seconds = [options.integer(one) / 1000 for one in (SESSION, CONNECTION)]
    return ZooKeeperProvider(url, base_path, lock_key, *seconds)


class ZooKeeperLock:
    """The node of one holder below a path, with a session of its own."""

    def __init__(self, provider: ZooKeeperProvider, path: str, table: str) -> None:
        """Connect to nothing yet."""
        self._provider, self._path, self._table = provider, path, table
        self._client: Any = None
        self._node: LockNode | None = None

    def acquire(self, timeout_s: float) -> bool:
        """Queue until all nodes before this one are deleted; see the protocol.

        Raises:
            StorageError: kazoo is not installed, or no server answers.
        """
        end = time.monotonic() + timeout_s
        is_mine = False
        try:
            with self._translated_errors():
                is_mine = self._connect().wait_for_turn(end)
            return is_mine
        finally:
            if not is_mine:
                self.release()

    def is_held(self) -> bool:
        """Ask the server whether the node is there; without an answer it may have ended with its session."""
        return self._client is not None and self._node is not None and self._node.exists()

    def release(self) -> None:
        """Delete the node and end the session; a server that does not answer ends it itself."""
        client, self._client = self._client, None
        if client is None:
            return
        if self._node is not None:
            self._node.delete()
        with contextlib.suppress(Exception):
            client.stop()
            client.close()

    def holder(self) -> str:
        """Say which servers and node the lock is."""
        other = self._node.other_table if self._node is not None else ""
        return (
            f"The lock is the node '{self._path}' of ZooKeeper {self._provider.url}; that of a writer that was killed vanishes"
            f" {self._provider.session_timeout_s:g} s after its end.{other_table_note(other, self._table, LOCK_KEY)}"
        )

    def _connect(self) -> LockNode:
        keep_off_terminal("kazoo")
        kazoo = importlib.import_module("kazoo.client")
        wait_s = self._provider.connection_timeout_s
        self._client = kazoo.KazooClient(hosts=self._provider.url, timeout=self._provider.session_timeout_s)
        self._client.start(timeout=wait_s)
        self._node = LockNode(self._client, self._path, self._table, wait_s)
        return self._node

    @contextlib.contextmanager
    def _translated_errors(self) -> Any:
        try:
            yield
        except ImportError as error:
            raise StorageError(f"the lock of table {self._table} needs a package that is not installed: pip install kazoo") from error
        except Exception as error:
            reason = ": ".join(filter(None, (type(error).__name__, str(error))))
            raise StorageError(
                f"ZooKeeper {self._provider.url} does not give the lock '{self._path}' of table {self._table}: {reason}. Nothing was"
                f" written. {URL} names the servers, and {CONNECTION} says how long to wait for an answer of theirs."
            ) from error
