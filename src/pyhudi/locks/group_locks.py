"""Locks of single file groups in ZooKeeper, next to the lock of their table. Rule: `DirectMarkerTransactionManager`.

The key is the partition path and the file id, below the base path of the table's provider. Apache Hudi takes the same, so that its writers
and these exclude each other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyhudi.errors import LockTimeoutError, UnsupportedError
from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.locks.zookeeper_lock import CLASS, ZooKeeperProvider
from pyhudi.spec.files.file_group import FileGroupId, join_path
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class GroupLocks:
    """How to lock file groups: the provider of their table, and how many seconds to wait. It can be pickled."""

    provider: ZooKeeperProvider
    wait_s: float

    @contextlib.contextmanager
    def hold(self, storage: Storage, group: FileGroupId) -> Iterator[None]:
        """Hold the lock of a file group.

        Raises:
            LockTimeoutError: others held it for too long.
            StorageError: no server answers.
        """
        lock = replace(self.provider, lock_key=join_path(group.partition_path, group.file_id)).lock(storage, "")
        if not lock.acquire(self.wait_s):
            raise LockTimeoutError(
                f"another writer has held the lock of file group {group.file_id} in '{group.partition_path}' of table {storage.uri} for"
                f" {self.wait_s:g} s. {lock.holder()}"
            )
        try:
            yield
        finally:
            lock.release()


def group_locks(storage: Storage, wait_s: float, reason: str) -> GroupLocks:
    """Return the locks of the file groups of a table.

    Args:
        storage: the table's, with the lock provider of its writers.
        wait_s: how many seconds to wait for one.
        reason: the option that asks for them.

    Raises:
        UnsupportedError: the provider has no such locks, as in Apache Hudi.
    """
    provider = storage.provider if isinstance(storage, ProvidedStorage) else None
    if not isinstance(provider, ZooKeeperProvider) or not provider.base_path:
        name = "no lock provider" if provider is None else provider.identity
        raise UnsupportedError(
            f"{reason} locks each file group in ZooKeeper, and table {storage.uri} is written with {name}. Take"
            f" hoodie.write.lock.provider={CLASS} for all writers of the table, as Apache Hudi needs it too, or"
            " SimpleDirectMarkerBasedDetectionStrategy, which takes no locks of file groups."
        )
    return GroupLocks(provider, wait_s)
