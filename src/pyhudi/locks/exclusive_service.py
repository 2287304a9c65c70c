"""The long-running services of a table exclude others of their kind: in this process, on this machine, and on others.

The lock of a service is one of this machine, which ends with its process. On a table with a lock provider a lease is held as well
(`pyhudi.locks.service_lease`). A process that was suspended may have lost it: it is asked for under the table's lock before anything is
decided.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.errors import ConflictError, LockLostError, LockTimeoutError
from pyhudi.locks.choose_lock import with_default_provider
from pyhudi.locks.known_objects import as_it_is_now
from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.locks.service_lease import ServiceLease
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class ExclusiveService:
    """The right to run services of one kind; `lease` is None on a table of this machine."""

    uri: str
    doing: str
    lease: ServiceLease | None = None

    @property
    def is_held(self) -> bool:
        """Whether no other process runs one."""
        return self.lease is None or self.lease.is_held()

    def check(self) -> None:
        """Refuse to continue when another process may run the service too. Call it while the table's lock is held.

        Raises:
            LockLostError: this one was held up for so long that others took it for dead, or its lease was deleted.
        """
        if not self.is_held:
            raise LockLostError(
                f"the process that is {self.doing} table {self.uri} was held up for so long that others may have taken it for dead and have"
                " begun again, or its file in .hoodie/.locks was deleted. Nothing of this run is visible; look at table.history(), and run"
                " the service again if it is still wanted."
            )


@contextlib.contextmanager
def exclusive_service(storage: Storage, name: str, doing: str, *, is_locked: bool = False) -> Iterator[ExclusiveService]:
    """Hold a lock by which the long-running services of one kind exclude each other, writers not.

    Args:
        storage: the table's.
        name: of the lock.
        doing: what one is doing that holds it, for the error.
        is_locked: whether the table's lock is held until the end, which excludes other machines.

    Raises:
        ConflictError: another one holds it.
    """
    shared = storage if is_locked else with_default_provider(storage)
    with contextlib.ExitStack() as present:
        try:
            present.enter_context(shared.lock(0, name))
        except LockTimeoutError as error:
            raise ConflictError(f"another process or thread is {doing} table {storage.uri}; wait for it and try again.") from error
        if is_locked or not isinstance(shared, ProvidedStorage):
            yield ExclusiveService(storage.uri, doing)
            return
        lease = ServiceLease(as_it_is_now(shared), name)
        lease.acquire(doing)
        present.callback(lease.release)
        yield ExclusiveService(storage.uri, doing, lease)
