"""The lock object in the table: validity, renewal, takeover, lost answers, and a real server."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest

from pyhudi.errors import OptionError, StorageError, UnsupportedError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.locks.conditional_object import Version, object_of
from pyhudi.locks.storage_lock import LockContent, StorageLock, StorageProvider, decode_content
from pyhudi.spec.options import resolve
from pyhudi.storage.local_storage import LocalStorage

PROVIDER = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"}
KEY = "hoodie.write.lock.storage."
BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


class Time:
    """A clock that tests move, and seconds that no change of the clock moves."""

    def __init__(self, behind_s: float = 0) -> None:
        self.seconds, self.behind_s = 0.0, behind_s

    def now(self) -> dt.datetime:
        return BEGIN + dt.timedelta(seconds=self.seconds - self.behind_s)

    def elapsed(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds


class Object:
    """An object in memory; `failing` calls raise, and `unanswered` writes are done and raise or deny it."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.number = 0
        self.failing = 0
        self.delay: Callable[[], object] = lambda: None
        self.unanswered: list[Any] = []

    def read(self) -> tuple[bytes, Version] | None:
        self._fail()
        return None if self.data is None else (self.data, Version(str(self.number)))

    def write(self, data: bytes, expected: Version) -> Version | None:
        self._fail()
        if expected != (Version() if self.data is None else Version(str(self.number))):
            return None
        self.data, self.number = data, self.number + 1
        if self.unanswered:
            answer = self.unanswered.pop()
            if answer is not None:
                raise answer
            return None
        return Version(str(self.number))

    def _fail(self) -> None:
        if self.failing:
            self.failing -= 1
            self.delay()
            raise StorageError("the token has expired")


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def stored() -> Object:
    return Object()


def a_lock(stored: Object, clock: Time) -> StorageLock:
    return StorageLock(stored, StorageProvider(100, 10), "s3://b/t/lock", clock, clock.elapsed, clock.pause)


def test_object_says_what_apache_hudi_writes(stored, clock) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    until = int((BEGIN.timestamp() + 100) * 1000)
    assert stored.data == f'{{"expired":false,"validUntil":{until},"owner":"{lock._owner}"}}'.encode()
    assert lock.is_held()
    lock.release()
    assert stored.data == f'{{"expired":true,"validUntil":{until},"owner":"{lock._owner}"}}'.encode()
    assert not lock.is_held()


def test_one_holder_at_a_time_and_the_next_one_after_its_release(stored, clock) -> None:
    first, second = a_lock(stored, clock), a_lock(stored, clock)
    assert first.acquire(0)
    assert not second.acquire(0)
    assert f"is of owner {first._owner}" in second.holder()
    first.release()
    assert second.acquire(0)


@pytest.mark.parametrize(("seconds", "taken"), [(100.4, False), (100.6, True)])
def test_lock_that_nobody_renews_is_taken_over_when_it_has_expired_on_a_clock_that_is_ahead(stored, clock, seconds, taken) -> None:
    dead, other = a_lock(stored, clock), a_lock(stored, clock)
    assert dead.acquire(0)
    clock.seconds = seconds
    assert not dead.is_held()
    assert other.acquire(0) is taken
    assert not dead.renew() or not taken
    assert not dead.is_held() or not taken


def test_holder_stops_believing_in_its_lock_before_others_may_take_it(stored, clock) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    clock.seconds = 79
    assert lock.is_held()
    clock.seconds = 81
    assert not lock.is_held()
    assert lock.renew()
    assert lock.is_held()


def test_clock_that_is_set_back_does_not_lengthen_the_lock(stored, clock) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    clock.seconds, clock.behind_s = 90, 3600
    assert not lock.is_held()


def test_lock_that_was_taken_over_is_neither_renewed_nor_released(stored, clock) -> None:
    dead, other = a_lock(stored, clock), a_lock(stored, clock)
    assert dead.acquire(0)
    clock.seconds = 200
    assert other.acquire(0)
    content = stored.data
    assert not dead.renew()
    dead.release()
    assert stored.data == content
    assert other.is_held()


@pytest.mark.parametrize("answer", [None, StorageError("no answer")])
def test_write_whose_answer_was_lost_is_recognised_as_ones_own(stored, clock, answer) -> None:
    stored.unanswered = [answer]
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    stored.unanswered = [answer]
    assert lock.renew()
    assert lock.is_held()


def test_of_two_that_saw_the_same_version_one_wins(stored, clock) -> None:
    first, second = a_lock(stored, clock), a_lock(stored, clock)
    assert not second._object.read()
    assert first.acquire(0)
    assert not second._write()  # it saw no object


def test_damaged_object_is_held_by_somebody_and_the_error_says_so(stored, clock) -> None:
    stored.data = b'{"expired":false,"validUntil":"soon","owner":"a"}'
    lock = a_lock(stored, clock)
    assert not lock.acquire(5)
    assert "is damaged" in lock.holder()
    for data in (b"", b"[]", b'{"expired":false}', b'{"expired":0,"validUntil":1,"owner":"a"}'):
        assert decode_content(data) is None
    assert decode_content(b'{"expired":false,"validUntil":1,"owner":"a","more":2}') == LockContent("a", 1)


def test_storage_that_fails_before_the_lock_is_held_is_an_error(stored, clock) -> None:
    stored.failing = 1
    with pytest.raises(StorageError, match="token has expired"):
        a_lock(stored, clock).acquire(5)


def test_credentials_that_expire_while_the_lock_is_held_end_it_before_it_expires(stored, clock, caplog) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    stored.failing = 1000
    clock.seconds = 30
    with pytest.raises(StorageError):
        lock.renew()
    assert lock.is_held()
    clock.seconds = 85
    assert not lock.is_held()
    lock.release()
    assert "could not be released" in caplog.text


def test_release_is_tried_again(stored, clock) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    stored.failing = 2
    lock.release()
    assert json.loads(stored.data)["expired"] is True


def test_lock_that_expires_while_the_store_does_not_answer_is_left(stored, clock) -> None:
    lock = a_lock(stored, clock)
    assert lock.acquire(0)
    stored.failing, stored.delay = 9, lambda: clock.pause(60)
    lock.release()
    assert stored.failing == 7, "each further attempt takes as long"


@pytest.mark.parametrize(
    "options", [{f"{KEY}validity.timeout.secs": "9", f"{KEY}renew.interval.secs": "1"}, {f"{KEY}validity.timeout.secs": "200"}]
)
def test_lock_that_would_expire_before_a_second_renewal_is_refused(options) -> None:
    with pytest.raises(OptionError, match=KEY):
        lock_provider(resolve({**PROVIDER, **options}))


def test_options_and_storages(tmp_path) -> None:
    short = {f"{KEY}validity.timeout.secs": "20", f"{KEY}heartbeat.poll.secs": "2"}
    assert lock_provider(resolve({**PROVIDER, **short})) == StorageProvider(20, 2)
    with pytest.raises(UnsupportedError, match=r"conditional writes.*FileSystemBasedLockProvider"):
        object_of(LocalStorage(str(tmp_path)), "lock")
