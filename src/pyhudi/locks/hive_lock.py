"""The lock of Apache Hudi's `HiveMetastoreBasedLockProvider`: an exclusive lock of a Hive metastore on a table of its catalog.

Rules: `HiveMetastoreBasedLockProvider`, Hive's `TxnHandler`; docs/format/concurrency.md#lock-providers. The metastore queues requests. A
lock without heartbeats ends after the metastore's `hive.txn.timeout`, if its housekeeping runs.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.clients.metastore_client import MetastoreClient, connect, load_bindings
from pyhudi.errors import CatalogError, OptionError, StorageError
from pyhudi.locks.hive_requests import has_lost, lock_request, note_lost, other_table, withdraw_lost
from pyhudi.locks.lock_provider import ProviderLock, other_table_note, poll
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.options import Options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import SystemClock, now_millis

CLASS: Final = "HiveMetastoreBasedLockProvider"
DATABASE: Final = "hoodie.write.lock.hivemetastore.database"
TABLE: Final = "hoodie.write.lock.hivemetastore.table"
URIS: Final = "hoodie.write.lock.hivemetastore.uris"
HEARTBEAT: Final = "hoodie.write.lock.heartbeat_interval_ms"
_ANSWER_MS: Final = 30_000
#: Nobody waits long for the release of a lock by a metastore that has not answered: the lock ends without heartbeats.
_RELEASE_MS: Final = 3_000
_RELEASES: Final = 2
#: A request whose answer was lost may reach the queue after the first look for it.
_LOOKS: Final = 2
_BETWEEN_LOOKS_S: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HiveProvider:
    """Locks tables by a table `table` of the database `database` in the metastore at one of `uris`, and sends a heartbeat every
    `heartbeat_s` seconds.
    """

    uris: tuple[str, ...]
    database: str
    table: str
    heartbeat_s: float = 60.0

    @property
    def identity(self) -> str:
        """The class and the table of the catalog; the addresses of one metastore may differ from writer to writer."""
        return f"{CLASS} at '{self.database}.{self.table}'"

    def lock(self, storage: Storage, domain: str) -> ProviderLock:  # noqa: ARG002 - the metastore ends locks without heartbeats
        """Return the lock of a table."""
        return HiveLock(self, storage.uri)


def hive_provider(options: Options) -> HiveProvider:
    """Return what the options say.

    Raises:
        OptionError: one is missing, or the client is not installed.
    """
    values = {name: options.text(name).strip() for name in (URIS, DATABASE, TABLE)}
    missing = [name for name, value in values.items() if not value]
    if missing:
        raise OptionError(
            f"{CLASS} needs {' and '.join(missing)}: the address of the metastore, such as thrift://host:9083, and the database and the"
            " table of its catalog whose lock is taken, which all writers name alike."
        )
    load_bindings(CLASS, "name another class in hoodie.write.lock.provider")
    uris = tuple(uri.strip() for uri in values[URIS].split(",") if uri.strip())
    return HiveProvider(uris, values[DATABASE].lower(), values[TABLE].lower(), options.integer(HEARTBEAT) / 1000)


class HiveLock:
    """The request of one holder in the queue of a metastore, with a connection of its own."""

    def __init__(self, provider: HiveProvider, table: str) -> None:
        """Connect to nothing yet; `table` is the URI of the table that is locked."""
        self._provider, self._table = provider, table
        self._client: MetastoreClient | None = None
        self._lock_id: int | None = None
        self._one_call = threading.Lock()  # a connection serves one call at a time, and heartbeats have a thread of their own
        failed = f"the lock {provider.database}.{provider.table} of the Hive metastore got no heartbeat, which is tried again"
        self._renewal = Renewal(provider.heartbeat_s, self.heartbeat, failed)

    def acquire(self, timeout_s: float) -> bool:
        """Queue until the metastore grants the lock; see the protocol.

        Raises:
            StorageError: no metastore answers, or it refuses locks.
        """
        is_mine = False
        try:
            with self._translated_errors():
                is_mine = poll(self._is_granted, timeout_s)
        finally:
            if not is_mine:
                self._unlock()
                self._withdraw_lost(_LOOKS)
                self._close()
        if is_mine:
            self._renewal.start()
        return is_mine

    def is_held(self) -> bool:
        """Send a heartbeat: a metastore that has ended the lock refuses it."""
        try:
            return self.heartbeat()
        except (CatalogError, OSError) as failure:
            _log.warning("whether the lock of table %s is held is not known: %s", self._table, failure)
            return False

    def heartbeat(self) -> bool:
        """Keep the lock from expiring, and tell whether it exists still.

        Raises:
            CatalogError: the metastore does not answer.
        """
        if self._lock_id is None:
            return False
        types = self._connected().types
        try:
            self._call("heartbeat", types.HeartbeatRequest(lockid=self._lock_id))
        except (types.NoSuchLockException, types.NoSuchTxnException, types.TxnAbortedException):
            _log.warning("the Hive metastore has ended the lock of table %s", self._table)
            return False
        return True

    def release(self) -> None:
        """Unlock; a lock that the metastore does not release now ends when it has got no heartbeat for its time."""
        self._renewal.stop()
        self._unlock()
        self._close()

    def holder(self) -> str:
        """Say who holds the lock, as the metastore knows it."""
        provider = self._provider
        name = f"{provider.database}.{provider.table}"
        advice = "The metastore ends the lock of a dead writer after its hive.txn.timeout, if hive.compactor.initiator.on is set there."
        try:
            with contextlib.closing(connect(provider.uris, URIS, _ANSWER_MS)) as client:
                request = client.types.ShowLocksRequest(dbname=provider.database, tablename=provider.table)
                locks = [one for one in client.calls.show_locks(request).locks if one.state == client.types.LockState.ACQUIRED]
        except Exception:  # noqa: BLE001 - this only completes the message of another error
            return f"The Hive metastore does not say who holds the lock on {name}. {advice}"
        if not locks:
            return f"The lock on {name} of the Hive metastore was released just now."
        other = other_table_note(other_table(locks[0].agentInfo or "", self._table), self._table, f"{DATABASE} and {TABLE}")
        return f"{_description(locks[0], name)}.{other} {advice}"

    def _is_granted(self) -> bool:
        """Join the queue, or ask whether the request has come first."""
        client = self._connected()
        if self._lock_id is None:
            answer = self._join()
            self._lock_id = answer.lockid
            if answer.state != client.types.LockState.ACQUIRED:
                self._withdraw_lost()
        else:
            try:
                answer = self._call("check_lock", client.types.CheckLockRequest(lockid=self._lock_id))
            except client.types.NoSuchLockException:  # the process was stopped for longer than a request may wait
                self._lock_id = None
                return False
        return bool(answer.state == client.types.LockState.ACQUIRED)

    def _join(self) -> Any:
        """Send a request for the lock."""
        request = lock_request(self._connected().types, self._provider.database, self._provider.table, self._table)
        try:
            return self._call("lock", request)
        except CatalogError:
            note_lost(request)
            raise

    def _connected(self, answer_ms: int | None = None) -> MetastoreClient:
        if self._client is None:
            self._client = connect(self._provider.uris, URIS, answer_ms or _ANSWER_MS)
        return self._client

    def _call(self, method: str, request: Any) -> Any:
        """Call the metastore; what it says about the lock itself is raised as it is. After other errors the next call connects again."""
        with self._one_call:
            client = self._connected()
            types = client.types
            lost = None
            try:
                with client.translate_errors(f"locking {self._provider.database}.{self._provider.table}"):
                    try:
                        return getattr(client.calls, method)(request)
                    except (
                        types.NoSuchLockException,
                        types.NoSuchTxnException,
                        types.TxnAbortedException,
                        types.TxnOpenException,
                    ) as error:
                        lost = error
            except CatalogError:
                self._close()
                raise
        raise lost

    def _unlock(self) -> None:
        lock_id, self._lock_id = self._lock_id, None
        if lock_id is None:
            return
        for _ in range(_RELEASES):
            try:
                types = self._connected(_RELEASE_MS).types
                self._call("unlock", types.UnlockRequest(lockid=lock_id))
            except CatalogError as failure:
                _log.warning("the lock of table %s could not be released, others wait until it has expired: %s", self._table, failure)
            except (types.NoSuchLockException, types.TxnOpenException):
                return
            else:
                return

    def _withdraw_lost(self, looks: int = 1) -> None:
        """Withdraw requests of this process for the same lock whose answers were lost, as far as the metastore shows them."""
        for look in range(looks):
            if not has_lost():
                return
            time.sleep(_BETWEEN_LOOKS_S if look else 0)
            try:
                withdraw_lost(self._connected(_RELEASE_MS).types, self._call, self._provider.database, self._provider.table)
            except CatalogError as failure:
                _log.warning("a request for the lock of table %s was lost, others may wait until it has expired: %s", self._table, failure)

    def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                client.close()

    @contextlib.contextmanager
    def _translated_errors(self) -> Any:
        try:
            yield
        except CatalogError as error:
            raise StorageError(
                f"the lock {self._provider.database}.{self._provider.table} of table {self._table} cannot be had: {error}. Nothing was"
                " written."
            ) from error


def _description(lock: Any, name: str) -> str:
    minutes = (now_millis(SystemClock()) - (lock.acquiredat or 0)) / 60_000
    return (
        f"The lock {lock.lockid} on {name} of the Hive metastore is held by {lock.agentInfo or 'Unknown'} of user {lock.user} on"
        f" {lock.hostname} since {minutes:.0f} minutes"
    )
