"""Locks of DynamoDB: options, and the lease of an item in memory under clocks that the test moves."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from pyhudi.errors import OptionError, StorageError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.locks.dynamodb_item import LockItem, TableCapacity
from pyhudi.locks.dynamodb_lock import DynamoDBLock, DynamoDBProvider
from pyhudi.spec.options import resolve

KEY = "hoodie.write.lock.dynamodb."
PACKAGE = "org.apache.hudi.aws.transaction.lock."
PROVIDER = {"hoodie.write.lock.provider": f"{PACKAGE}DynamoDBBasedLockProvider"}
IMPLICIT = {"hoodie.write.lock.provider": "DynamoDBBasedImplicitPartitionKeyLockProvider"}
TABLE = {f"{KEY}table": "locks"}


def provider_of(**options: str):
    return lock_provider(resolve(options))


def test_options_say_which_item_is_the_lock(monkeypatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    whole = {
        **PROVIDER,
        **TABLE,
        f"{KEY}partition_key": "k",
        f"{KEY}region": "eu-west-1",
        f"{KEY}endpoint_url": "localhost:8000",
        f"{KEY}billing_mode": "PROVISIONED",
        f"{KEY}read_capacity": "5",
        f"{KEY}write_capacity": "6",
        f"{KEY}table_creation_timeout": "7000",
        "hoodie.write.lock.wait_time_ms": "90000",
        "hoodie.aws.access.key": "secret",
        "hoodie.aws.secret.key": "secret too",
    }
    capacity = TableCapacity("PROVISIONED", 5, 6, 7.0)
    provider = provider_of(**whole)
    assert provider == DynamoDBProvider("locks", "k", "eu-west-1", "https://localhost:8000", 90.0, capacity=capacity)
    assert provider.credentials == (("aws_access_key_id", "secret"), ("aws_secret_access_key", "secret too"))
    assert "secret" not in f"{provider!r} {provider.identity}"
    assert pickle.loads(pickle.dumps(provider)) == provider
    assert provider_of(**IMPLICIT, **TABLE) == DynamoDBProvider("locks", is_implicit=True)
    assert provider_of(**PROVIDER, **TABLE, **{"hoodie.write.lock.wait_time_ms": "50"}).lease_s == 10.0


def test_region_is_part_of_what_writers_have_in_common(monkeypatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert provider_of(**PROVIDER, **TABLE).identity == "DynamoDBBasedLockProvider at '<table name>' in table 'locks' of eu-north-1"
    assert provider_of(**PROVIDER, **TABLE, **{f"{KEY}region": "us-west-2"}).identity.endswith("of us-west-2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**PROVIDER}, r"needs hoodie\.write\.lock\.dynamodb\.table"),
        ({**IMPLICIT}, r"needs hoodie\.write\.lock\.dynamodb\.table"),
        ({**IMPLICIT, **TABLE, f"{KEY}partition_key": "k"}, "has no effect on DynamoDBBasedImplicitPartitionKeyLockProvider"),
        ({**PROVIDER, **TABLE, f"{KEY}billing_mode": "FREE"}, "billing_mode"),
        ({**TABLE}, "is an option of DynamoDBBasedLockProvider"),
        ({**PROVIDER, f"{KEY}table": "my locks"}, r"table=my locks is no name of a table of DynamoDB"),
        ({**PROVIDER, f"{KEY}table": "ab"}, r"table=ab is no name of a table of DynamoDB"),
        ({**PROVIDER, **TABLE, "hoodie.aws.access.key": "a"}, r"access\.key is given without hoodie\.aws\.secret\.key: give both"),
        ({**PROVIDER, **TABLE, "hoodie.aws.session.token": "a"}, r"session\.token is given without hoodie\.aws\.access\.key and"),
    ],
)
def test_missing_and_contradicting_options_are_refused(options, message) -> None:
    with pytest.raises(OptionError, match=message):
        provider_of(**options)


@dataclass
class Item:
    """An item in memory; `fails` is `"all"` for a server that does not answer, `"after"` for one whose answers to writes are lost."""

    stored: LockItem | None = None
    fails: str = ""
    reads: int = 0

    def read(self):
        self.reads += 1
        if self.fails == "all":
            raise StorageError("no answer")
        return self.stored

    def write(self, item, expected):
        if self.fails == "all":
            raise StorageError("no answer")
        if self.stored != expected:
            return False
        self.stored = item
        if self.fails == "after":
            raise StorageError("no answer")
        return True

    def delete(self, expected):
        if self.fails:
            raise StorageError("no answer")
        if self.stored == expected:
            self.stored = None


@dataclass
class Time:
    seconds: float = 0.0
    wall_s: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.wall_s)

    def elapsed(self):
        return self.seconds

    def pause(self, seconds):
        self.pass_by(max(seconds, 0.1))

    def pass_by(self, seconds):
        self.seconds += seconds
        self.wall_s += seconds


def a_lock(item: Item, time: Time, lease_s: float = 1000.0) -> DynamoDBLock:
    lock = DynamoDBLock(item, lease_s, "/t", "'k'", time, time.elapsed, time.pause)
    lock._renewal._interval_s = 3600  # renewed by the tests alone
    return lock


def take(item: Item, time: Time) -> DynamoDBLock:
    lock = a_lock(item, time)
    assert lock.acquire(0)
    return lock


def test_item_is_taken_over_only_after_one_version_was_seen_for_its_lease() -> None:
    item, time = Item(), Time()
    holder, other = take(item, time), a_lock(item, time)
    for _ in range(3):
        time.pass_by(900)
        assert not other._try_lock()
        assert holder.renew()
    assert not other._try_lock()
    time.pass_by(1000)
    assert not other._try_lock()
    time.pass_by(0.1)
    assert other._try_lock()
    assert not holder.renew()
    assert not holder.is_held()
    assert other.is_held()
    holder.release()
    assert item.stored is not None


@pytest.mark.parametrize(("is_dead", "lease_s"), [(True, 0.6), (False, 2.0)])
def test_wait_goes_on_to_the_end_of_the_lease_of_a_holder_that_renews_it_no_more(is_dead, lease_s) -> None:
    item = Item()
    holder, other = (DynamoDBLock(item, lease_s, "/t", "x") for _ in range(2))
    assert holder.acquire(0)
    if is_dead:
        holder._renewal.stop()
    assert not DynamoDBLock(item, lease_s, "/t", "x").acquire(0)
    assert other.acquire(0.5) is is_dead
    (other if is_dead else holder).release()


def test_error_of_a_wait_that_is_shorter_than_a_lease_says_when_it_ends_and_which_option_to_raise() -> None:
    item, time = Item(), Time()
    holder, other = take(item, time), a_lock(item, time)
    assert not other._try_lock()
    time.pass_by(399)
    assert not other._try_lock()
    assert not other._outlast(), "it may have been renewed 0.6 s ago, as far as this waiter knows"
    advice = (
        "it ends in 601 s; whoever waits as long as its lease takes it over then: set hoodie.write.lock.wait_time_ms to 1000000 at least"
    )
    assert advice in other.holder()
    time.pass_by(602)
    assert other._try_lock(), "what the error says is so"
    assert not holder.renew()


def test_error_of_a_wait_for_a_live_holder_gives_no_advice() -> None:
    item, time = Item(), Time()
    holder, other = take(item, time), a_lock(item, time)
    assert not other._try_lock()
    time.pass_by(300)
    assert holder.renew()
    assert not other._try_lock()
    time.pass_by(7)
    assert other.holder() == f"The lock 'k' is of owner {holder._owner}, which renewed it 7 s ago."


def test_released_item_of_another_client_is_free_at_once() -> None:
    item = Item(LockItem("java", 1000, "v", is_released=True))
    take(item, Time())


@pytest.mark.parametrize(("seconds", "wall_s"), [(801.0, 0.0), (0.0, 801.0)])
def test_holder_without_renewal_does_not_hold_the_lock_by_either_clock(seconds, wall_s) -> None:
    item, time = Item(), Time()
    lock = take(item, time)
    assert lock.is_held()
    time.seconds += seconds
    time.wall_s += wall_s
    assert not lock.is_held()


def test_deleted_item_is_no_lock() -> None:
    item = Item()
    lock = take(item, Time())
    item.stored = None
    assert not lock.is_held()


def test_write_whose_answer_is_lost_is_the_holders() -> None:
    item = Item(fails="after")
    lock = take(item, Time())
    assert lock.renew()
    item.fails = ""
    assert lock.is_held()
    lock.release()
    assert item.stored is None


def test_holder_that_gets_no_answer_does_not_hold_the_lock_until_it_gets_one() -> None:
    item = Item()
    lock = take(item, Time())
    item.fails = "all"
    assert not lock.is_held()
    with pytest.raises(StorageError):
        lock.renew()
    item.fails = ""
    assert lock.is_held()
    lock.release()


def test_write_that_arrives_late_is_the_holders_and_does_not_prolong_its_lease() -> None:
    item, time = Item(), Time()
    lock = take(item, time)
    time.pass_by(700)
    assert item.stored is not None
    item.stored = replace(item.stored, version="late")
    assert lock.renew()
    time.pass_by(110)
    assert not lock.is_held(), "810 s after the last renewal whose answer came"
    assert lock.holder() == "The lock 'k' was released just now."
    lock.release()


def test_failed_release_leaves_the_item_to_its_lease(caplog) -> None:
    item = Item()
    lock = take(item, Time())
    item.fails = "delete"
    lock.release()
    assert "others wait until its lease has ended: no answer" in caplog.text
