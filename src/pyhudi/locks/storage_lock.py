"""The lock object of Apache Hudi's `StorageBasedLockProvider`: a JSON in the table, replaced only by whoever read its latest version.

Rules: `StorageBasedLockProvider`, `StorageLockFile`; docs/format/concurrency.md#lock-providers. The lock is valid for some minutes and is
renewed on a thread. A holder whose lock could not be renewed in time does not hold it any more, in its own eyes earlier than in those of
others.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

from pyhudi.errors import HudiError, OptionError, StorageError
from pyhudi.locks.conditional_object import ConditionalObject, Version, object_of
from pyhudi.locks.holder import new_holder_id
from pyhudi.locks.lock_audit import CONFIG_NAME, AuditState, LockAudit, is_audited
from pyhudi.locks.lock_provider import LockProvider, ProviderLock, poll
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.options import Options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock, SystemClock, now_millis

CLASS: Final = "StorageBasedLockProvider"
VALIDITY: Final = "hoodie.write.lock.storage.validity.timeout.secs"
RENEWAL: Final = "hoodie.write.lock.storage.renew.interval.secs"
_PATH: Final = ".hoodie/.locks/table_lock.json"
_LEAST_VALIDITY_S: Final = 10
_LEAST_RENEWALS: Final = 10
#: How far clocks may differ, as Apache Hudi allows.
_DRIFT_MS: Final = 500
#: Share of the validity that must be left for a write: one request of Apache Hudi takes no longer.
_MARGIN: Final = 0.2
_RELEASE_PAUSES_S: Final = (1.0, 2.0, 4.0)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StorageProvider:
    """Locks tables on object stores by an object in the table that is valid for `validity_s` seconds and renewed every `renewal_s`."""

    validity_s: int = 300
    renewal_s: int = 30
    #: Whether there may be an audit of the lock.
    may_audit: bool = field(default=False, compare=False)

    @property
    def identity(self) -> str:
        """The class: the object has one path in each table."""
        return CLASS

    def lock(self, storage: Storage, domain: str) -> ProviderLock:  # noqa: ARG002 - a lock that nobody renews expires
        """Return the lock of a table.

        Raises:
            UnsupportedError: the table's storage has no conditional writes.
            StorageError: a package is not installed.
        """
        return StorageLock(object_of(storage, _PATH), self, f"{storage.uri}/{_PATH}", audited=storage if self.may_audit else None)


def storage_provider(options: Options) -> StorageProvider:
    """Return what the options say.

    Raises:
        OptionError: the lock would expire before a renewal that failed is repeated.
    """
    validity, renewal = options.integer(VALIDITY), options.integer(RENEWAL)
    if validity < _LEAST_VALIDITY_S or renewal < 1 or validity < _LEAST_RENEWALS * renewal:
        raise OptionError(
            f"{VALIDITY}={validity} must be {_LEAST_VALIDITY_S} or more, and {_LEAST_RENEWALS} times {RENEWAL}={renewal} or more,"
            " and that 1 or more."
        )
    return StorageProvider(validity, renewal)


def with_audit(provider: LockProvider, names: Collection[str]) -> LockProvider:
    """Return a provider whose locks have an audit where the table's is on.

    Args:
        provider: of any class; only that of lock objects has an audit.
        names: of the files in the table's folder of locks.
    """
    return replace(provider, may_audit=True) if isinstance(provider, StorageProvider) and CONFIG_NAME in names else provider


@dataclass(frozen=True, slots=True)
class LockContent:
    """What the lock object says; times are in epoch milliseconds."""

    owner: str
    valid_until_ms: int
    expired: bool = False

    def encode(self) -> bytes:
        """Return the bytes that Apache Hudi writes.

        Example:
            >>> LockContent("a", 5).encode()
            b'{"expired":false,"validUntil":5,"owner":"a"}'
        """
        return json.dumps({"expired": self.expired, "validUntil": self.valid_until_ms, "owner": self.owner}, separators=(",", ":")).encode()


def decode_content(data: bytes) -> LockContent | None:
    """Return what a lock object says; None where it is damaged."""
    try:
        stated = json.loads(data)
        content = LockContent(stated["owner"], stated["validUntil"], stated["expired"])
    except (ValueError, KeyError, TypeError):
        return None
    types = (type(content.owner), type(content.valid_until_ms), type(content.expired))
    return content if types == (str, int, bool) else None


class StorageLock:
    """The lock object of one table, for one holder."""

    def __init__(
        self,
        lock_object: ConditionalObject,
        provider: StorageProvider,
        uri: str,
        clock: Clock | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        audited: Storage | None = None,
    ) -> None:
        """Nothing is held yet; no change of the clock moves the seconds of `elapsed`. `audited` is the table if its lock may be audited."""
        self._object, self._provider, self._uri = lock_object, provider, uri
        self._clock, self._elapsed, self._pause = clock or SystemClock(), elapsed, pause
        self._owner = new_holder_id()
        self._content: LockContent | None = None
        self._version = Version()
        self._renewed_at = 0.0
        self._is_lost = False
        self._last_read: LockContent | None = None
        self._is_damaged = False
        self._audited = audited
        self._audit: LockAudit | None = None
        self._renewal = Renewal(provider.renewal_s, self.renew, f"the lock '{uri}' could not be renewed, which is tried again")

    def acquire(self, timeout_s: float) -> bool:
        """Write the object while nobody else's is valid; see the protocol."""
        if not poll(self._try_lock, timeout_s, self._pause):
            return False
        self._begin_audit()
        self._renewal.start()
        return True

    def is_held(self) -> bool:
        """Tell whether the lock was renewed lately enough; on both clocks, as one of them may be stopped or set back."""
        if self._content is None or self._is_lost:
            return False
        validity = self._provider.validity_s
        left_s = min(self._renewed_at + validity - self._elapsed(), (self._content.valid_until_ms - self._now_ms()) / 1000)
        return left_s > validity * _MARGIN

    def renew(self) -> bool:
        """Make the lock valid for longer, and tell whether it is still this holder's."""
        if self._content is None or self._is_lost:
            return False
        if not self._write():
            self._is_lost = True
            _log.warning("the lock '%s' was taken over by another writer", self._uri)
        elif self._audit is not None:
            self._audit.record(AuditState.RENEW, self._now_ms(), self._content.valid_until_ms)
        return not self._is_lost

    def release(self) -> None:
        """Say that the lock has expired; when the storage does not take that, it expires in fact."""
        if not self._renewal.stop() or self._content is None or self._is_lost:
            return
        valid_until_ms, end_ms = self._content.valid_until_ms, self._now_ms()
        data = LockContent(self._owner, valid_until_ms, expired=True).encode()
        self._content = None
        for pause_s in (*_RELEASE_PAUSES_S, 0.0):
            if self._elapsed() - self._renewed_at > self._provider.validity_s:
                return  # a store that hangs has let it expire meanwhile
            try:
                released = self._object.write(data, self._version)
            except (HudiError, OSError) as failure:
                _log.warning("the lock '%s' could not be released, others wait until it has expired: %s", self._uri, failure)
                self._pause(pause_s)
            else:
                if self._audit is not None and released is not None:
                    self._audit.record(AuditState.END, end_ms, valid_until_ms)
                return

    def holder(self) -> str:
        """Say who holds the lock, or that nobody can read it."""
        if self._is_damaged:
            return f"The lock object '{self._uri}' is damaged. If no writer of the table, also of Apache Hudi, runs anywhere, delete it."
        owner = self._last_read.owner if self._last_read else "unknown"
        return f"The lock object '{self._uri}' is of owner {owner}; that of a dead writer expires after at most its validity ({VALIDITY})."

    def _begin_audit(self) -> None:
        if self._audited is None or self._content is None:
            return
        try:
            is_on = is_audited(self._audited)
        except (HudiError, OSError) as failure:
            _log.warning("whether the lock '%s' has an audit is not known, and none is written: %s", self._uri, failure)
            return
        if is_on:
            begin_ms = self._content.valid_until_ms - self._provider.validity_s * 1000
            self._audit = LockAudit(self._audited, self._owner, begin_ms)
            self._audit.record(AuditState.START, begin_ms, self._content.valid_until_ms)

    def _try_lock(self) -> bool:
        stored = self._object.read()
        if stored is None:
            self._version = Version()
            return self._write()
        data, self._version = stored
        self._last_read = decode_content(data)
        self._is_damaged = self._last_read is None
        if self._last_read is None or (not self._last_read.expired and self._now_ms() <= self._last_read.valid_until_ms + _DRIFT_MS):
            return False
        return self._write()

    def _write(self) -> bool:
        """Put the lock in place of the version that was read last; False when somebody else did."""
        content = LockContent(self._owner, self._now_ms() + self._provider.validity_s * 1000)
        began = self._elapsed()
        try:
            written = self._object.write(content.encode(), self._version)
        except StorageError:
            written = self._version_if_mine(content)
            if written is None:
                raise
        written = written or self._version_if_mine(content)
        if written is None:
            return False
        self._content, self._version, self._renewed_at = content, written, began
        return True

    def _version_if_mine(self, content: LockContent) -> Version | None:
        """Return the version of the object where it is what this holder has just written: the answer to the first attempt may be lost."""
        stored = self._object.read()
        return stored[1] if stored is not None and decode_content(stored[0]) == content else None

    def _now_ms(self) -> int:
        return now_millis(self._clock)
