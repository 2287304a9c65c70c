"""What a lock provider is: a lock that all writers of a table can see, wherever they run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

from pyhudi.codec.xxhash import xxh64
from pyhudi.storage.storage_protocol import Storage

#: How long a writer waits for the lock.
WAIT: Final = "hoodie.write.lock.wait_time_ms"
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
#: Of `HashID`.
_SEED: Final = 0xFFFFFFFFDABADABA


class ProviderLock(Protocol):
    """The lock of one table, for one holder and one time: acquired and released once each."""

    def acquire(self, timeout_s: float) -> bool:
        """Take the lock and return True, or False when others held it for `timeout_s` seconds; 0 tries once.

        Raises:
            HudiError: the lock cannot be had, or nobody can tell who holds it.
        """
        ...

    def is_held(self) -> bool:
        """Tell whether the lock still excludes others. In doubt it does not: the writer then ends without a commit."""
        ...

    def release(self) -> None:
        """Give the lock back, unless somebody else has taken it meanwhile. Called after `acquire` returned True."""
        ...

    def holder(self) -> str:
        """Say in a sentence who holds the lock and what to do if that writer is dead, for the error of one that waited in vain."""
        ...


class LockProvider(Protocol):
    """How to lock tables with one of the classes that `hoodie.write.lock.provider` names: a small picklable value."""

    @property
    def identity(self) -> str:
        """What the writers of a table must have in common: the class, and where its lock is."""
        ...

    def lock(self, storage: Storage, domain: str) -> ProviderLock:
        """Return the lock of a table; nothing is taken yet.

        Args:
            storage: the table's.
            domain: names the lock of its own machine that the caller holds, `""` where it has none: whoever else says that it holds this
                one is dead.
        """
        ...


def poll(try_lock: Callable[[], bool], timeout_s: float, pause: Callable[[float], None] = time.sleep) -> bool:
    """Try to take a lock until it is taken or `timeout_s` seconds are over, with growing pauses; tell whether it was taken.

    Example:
        >>> poll(lambda: True, 0)
        True
    """
    end = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    while not try_lock():
        left_s = end - time.monotonic()
        if left_s <= 0:
            return False
        pause(min(pause_s, left_s))
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
    return True


def hash_of_uri(uri: str) -> str:
    """Return the name that providers give a table's lock which form it from the table's base path. Rules: `HashID`, `FSUtils.s3aToS3`.

    Example:
        >>> hash_of_uri("s3a://b/t")
        '45205BCC2F82AB53'
    """
    same = f"s3://{uri.removeprefix('s3a://')}" if uri.startswith("s3a://") else uri
    return f"{xxh64(same.encode(), _SEED):016X}"


def other_table_note(holder: str, table: str, options: str) -> str:
    """Return a sentence for the error of a writer that waits for the lock of another table, `""` where it is the same table.

    Args:
        holder: the URI of the table that the holder locks, `""` where it is not known.
        table: that of the writer.
        options: which say where the lock is.

    Example:
        >>> other_table_note("/data/b", "/data/a", "hoodie.write.lock.zookeeper.lock_key")
        ' That is the lock of another table, /data/b: give each table its own hoodie.write.lock.zookeeper.lock_key.'
    """
    return f" That is the lock of another table, {holder}: give each table its own {options}." if holder not in ("", table) else ""
