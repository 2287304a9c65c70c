"""The lock of Apache Hudi's DynamoDB providers: an item with a lease, replaced only by whoever read its latest version.

Rules: `DynamoDBBasedLockProvider`, `DynamoDBBasedImplicitPartitionKeyLockProvider`, `AmazonDynamoDBLockClient`;
docs/format/concurrency.md#lock-providers. The holder renews the item three times within its lease, with a new version each time. Others
take it over when they have seen one version for as long as its lease: so no clocks are compared.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from pyhudi.clients.aws_client import credentials
from pyhudi.errors import OptionError, StorageError
from pyhudi.locks.dynamodb_item import (
    REGION,
    TABLE,
    ConditionalItem,
    DynamoDBItem,
    LockItem,
    TableCapacity,
    connect_dynamodb,
)
from pyhudi.locks.holder import new_holder_id
from pyhudi.locks.lock_provider import WAIT, ProviderLock, hash_of_uri, other_table_note, poll
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.options import Options
from pyhudi.spec.table import table_keys
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import Clock, SystemClock, now_millis

CLASS: Final = "DynamoDBBasedLockProvider"
IMPLICIT_CLASS: Final = "DynamoDBBasedImplicitPartitionKeyLockProvider"
PARTITION_KEY: Final = "hoodie.write.lock.dynamodb.partition_key"
ENDPOINT: Final = "hoodie.write.lock.dynamodb.endpoint_url"
BILLING: Final = "hoodie.write.lock.dynamodb.billing_mode"
READ_CAPACITY: Final = "hoodie.write.lock.dynamodb.read_capacity"
WRITE_CAPACITY: Final = "hoodie.write.lock.dynamodb.write_capacity"
CREATION: Final = "hoodie.write.lock.dynamodb.table_creation_timeout"
_RENEWALS: Final = 3
_REGION: Final = "us-east-1"
#: Rule of DynamoDB for the names of its tables.
_TABLE_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
#: A shorter lease ends between two renewals when the network is slow.
_LEAST_LEASE_S: Final = 10.0
_LEAST_TIMEOUT_S: Final = 0.5
#: Share of the lease that must be left for a write.
_MARGIN: Final = 0.2
#: Share of the lease after which a live holder has renewed it: there are three renewals.
_MISSED: Final = 0.4
_AFTER_LEASE_S: Final = 0.05

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DynamoDBProvider:
    """Locks tables by an item of the table `table` of DynamoDB, with a lease of `lease_s` seconds.

    The item's key is `partition_key`, by default the table's name; with `is_implicit` it is formed from the table's URI.
    """

    table: str
    partition_key: str = ""
    region: str = _REGION
    endpoint_url: str = ""
    lease_s: float = 60.0
    is_implicit: bool = False
    capacity: TableCapacity = field(default_factory=TableCapacity)
    #: Arguments of boto3: not shown, and not what writers have in common.
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)

    @property
    def identity(self) -> str:
        """The class, the item and the region of its table: in another region is another table of the same name."""
        location = f"table '{self.table}' of {self.endpoint_url or self.region}"
        return (
            f"{IMPLICIT_CLASS} in {location}" if self.is_implicit else f"{CLASS} at '{self.partition_key or '<table name>'}' in {location}"
        )

    def lock(self, storage: Storage, domain: str) -> ProviderLock:  # noqa: ARG002 - a lease that nobody renews ends
        """Return the lock of a table.

        Raises:
            OptionError: boto3 is not installed, or the table of DynamoDB is none of locks.
            StorageError: DynamoDB does not answer, or refuses.
        """
        stated = self.partition_key or (hash_of_uri(storage.uri) if self.is_implicit else "")
        key = stated or load_properties(storage).get(table_keys.NAME, "")
        timeout_s = max(self.lease_s * _MARGIN / 2, _LEAST_TIMEOUT_S)
        client, errors = connect_dynamodb(self.region, self.endpoint_url, self.credentials, timeout_s, os.getpid())
        item = DynamoDBItem(client, errors, self.table, key)
        item.create_table(self.capacity)
        return DynamoDBLock(item, self.lease_s, storage.uri, f"'{key}' in table '{self.table}' of DynamoDB")


def dynamodb_provider(options: Options) -> DynamoDBProvider:
    """Return what the options of the class with a partition key say.

    Raises:
        OptionError: the table is missing, or an option is wrong.
    """
    return _provider(options, CLASS, options.text(PARTITION_KEY).strip())


def implicit_dynamodb_provider(options: Options) -> DynamoDBProvider:
    """Return what the options of the class say that forms the key from the table's URI; errors as of `dynamodb_provider`."""
    if options.get(PARTITION_KEY) is not None:
        raise OptionError(
            f"{PARTITION_KEY} has no effect on {IMPLICIT_CLASS}, which forms the key from the table's path; take {CLASS}, or leave it out."
        )
    return replace(_provider(options, IMPLICIT_CLASS, ""), is_implicit=True)


def _provider(options: Options, name: str, partition_key: str) -> DynamoDBProvider:
    table = options.text(TABLE).strip()
    if not table:
        raise OptionError(f"{name} needs {TABLE}, the table of DynamoDB whose items are locks; it is created if it does not exist.")
    if not _TABLE_NAME.fullmatch(table):
        raise OptionError(f"{TABLE}={table} is no name of a table of DynamoDB: 3 to 255 letters, digits and the characters _ . - only.")
    endpoint = options.text(ENDPOINT).strip()
    if endpoint and "://" not in endpoint:
        endpoint = f"https://{endpoint}"
    capacity = TableCapacity(
        options.text(BILLING).strip().upper(),
        options.integer(READ_CAPACITY),
        options.integer(WRITE_CAPACITY),
        options.integer(CREATION) / 1000,
    )
    lease_s = max(options.integer(WAIT) / 1000, _LEAST_LEASE_S)
    keys = tuple(credentials(options).items())
    region = options.text(REGION).strip() or os.environ.get("AWS_REGION") or _REGION
    return DynamoDBProvider(table, partition_key, region, endpoint, lease_s, capacity=capacity, credentials=keys)


class DynamoDBLock:
    """The item of one lock, for one holder."""

    def __init__(
        self,
        item: ConditionalItem,
        lease_s: float,
        table: str,
        name: str,
        clock: Clock | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is held yet; `elapsed` gives seconds that no change of the clock moves, `table` is the URI of the locked table."""
        self._item, self._lease_s, self._table, self._name = item, lease_s, table, name
        self._clock, self._elapsed, self._pause = clock or SystemClock(), elapsed, pause
        self._one_write = threading.Lock()  # renewals have a thread of their own
        self._owner = f"{socket.gethostname()}{new_holder_id()}"
        self._mine: LockItem | None = None
        self._renewed = (0.0, 0)  # on both clocks
        self._last_read: tuple[LockItem, float] | None = None
        self._is_renewed = False  # by its holder since it was read first
        self._renewal = Renewal(lease_s / _RENEWALS, self.renew, f"the lock {name} could not be renewed, which is tried again")

    def acquire(self, timeout_s: float) -> bool:
        """Write the item while no other has a lease; see the protocol."""
        if not poll(self._try_lock, timeout_s, self._pause) and not self._outlast():
            return False
        self._renewal.start()
        return True

    def is_held(self) -> bool:
        """Tell whether the lease was renewed lately enough, on both clocks, and can be renewed now."""
        if self._left_s() <= self._lease_s * _MARGIN:
            return False
        try:
            return self.renew()
        except StorageError as failure:
            _log.warning("whether the lock %s is held is not known: %s", self._name, failure)
            return False

    def renew(self) -> bool:
        """Begin the lease again, and tell whether the item is still this holder's.

        Raises:
            StorageError: DynamoDB does not answer, or refuses.
        """
        with self._one_write:
            mine = self._mine
            if mine is None or self._left_s() <= 0:
                return False
            if self._write(mine):
                return True
            self._mine = None
        _log.warning("the lock %s was taken over by another writer, or its item was deleted", self._name)
        return False

    def release(self) -> None:
        """Delete the item; when DynamoDB does not do that, the lease ends."""
        self._renewal.stop()
        with self._one_write:
            mine, self._mine = self._mine, None
        if mine is None:
            return
        try:
            self._item.delete(mine)
        except StorageError as failure:
            _log.warning("the lock %s could not be released, others wait until its lease has ended: %s", self._name, failure)

    def holder(self) -> str:
        """Say whose item it is."""
        if self._last_read is None:
            return f"The lock {self._name} was released just now."
        item = self._last_read[0]
        other = other_table_note(item.data, self._table, PARTITION_KEY)
        lease_s, silent_s = item.lease_ms / 1000, self._elapsed() - self._last_read[1]
        text = f"The lock {self._name} is of owner {item.owner}"
        if self._is_renewed:
            return f"{text}, which renewed it {silent_s:.0f} s ago.{other}"
        return (
            f"{text}. If that writer is dead, it ends in {max(lease_s - silent_s, 0):.0f} s; whoever waits as long as its lease takes it"
            f" over then: set {WAIT} to {item.lease_ms} at least, and try again.{other}"
        )

    def _outlast(self) -> bool:
        """Wait for the end of the lease of a holder that has missed a renewal, and tell whether the lock was taken then.

        A wait is as long as a lease, and begins with the first look at the item: without this it would be over first, each time.
        """
        silent = self._last_read
        if silent is None or self._elapsed() - silent[1] <= silent[0].lease_ms / 1000 * _MISSED:
            return False
        while self._last_read is silent:
            left_s = silent[1] + silent[0].lease_ms / 1000 - self._elapsed()
            self._pause(min(max(left_s, 0.0) + _AFTER_LEASE_S, 1.0))
            if self._try_lock():
                return True
        return False

    def _try_lock(self) -> bool:
        stored = self._item.read()
        if stored is None or stored.is_released:
            self._last_read = None
            return self._write(stored)
        if self._last_read is None or self._last_read[0].version != stored.version:
            self._is_renewed = self._last_read is not None and self._last_read[0].owner == stored.owner
            self._last_read = (stored, self._elapsed())
            return False
        if self._elapsed() - self._last_read[1] <= stored.lease_ms / 1000:
            return False
        return self._write(stored)

    def _write(self, expected: LockItem | None) -> bool:
        """Put the item in place of the expected one; False when somebody else did."""
        item = LockItem(self._owner, round(self._lease_s * 1000), new_holder_id(), self._table)
        began = (self._elapsed(), now_millis(self._clock))
        try:
            is_written, failure = self._item.write(item, expected), None
        except StorageError as error:
            is_written, failure = False, error
        stored = item if is_written else self._item.read()
        if stored is None or stored.owner != self._owner:
            if failure is not None:
                raise failure
            return False
        self._mine = stored  # what was written though the answer was lost is this holder's too
        if stored == item:
            self._renewed = began
        return True

    def _left_s(self) -> float:
        """Return how many seconds of the lease are left, by the clock on which more have passed."""
        if self._mine is None:
            return 0.0
        passed_s = max(self._elapsed() - self._renewed[0], (now_millis(self._clock) - self._renewed[1]) / 1000)
        return self._lease_s - passed_s
