"""The cache that all of the package shares: its limits, and threads."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from pyhudi.cache import LruCache, cached_property


def test_the_least_recently_used_goes_when_there_is_no_room() -> None:
    cache: LruCache[str, str] = LruCache(4, len)
    for key in "abc":
        cache.put(key, key)
    cache.get("a")
    cache.put("d", "dd")
    assert [cache.get(key) for key in "abcd"] == ["a", None, "c", "dd"]


def test_what_is_larger_than_the_limit_is_not_kept_and_drives_nothing_out() -> None:
    cache: LruCache[str, str] = LruCache(4, len)
    cache.put("a", "a")
    cache.put("b", "bbbbb")
    assert (cache.get("a"), cache.get("b")) == ("a", None)


def test_a_value_that_is_put_again_counts_once() -> None:
    cache: LruCache[str, str] = LruCache(4, len)
    for _ in range(3):
        cache.put("a", "aa")
    cache.put("b", "bb")
    assert list(cache) == ["a", "b"]
    assert (cache.pop("a"), cache.pop("a"), list(cache)) == ("aa", None, ["b"])


def test_entries_are_limited_beside_their_size() -> None:
    cache: LruCache[str, str] = LruCache(100, len, most_entries=2)
    for key in "abc":
        cache.put(key, key)
    assert list(cache) == ["b", "c"]


def test_threads_share_a_cache_without_exceeding_its_limit() -> None:
    cache: LruCache[int, int] = LruCache(8)

    def use(seed: int) -> int:
        for number in range(2000):
            cache.put((number * seed) % 23, number)
            cache.get(number % 23)
            cache.pop(number % 7)
        return len(list(cache))

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(use, range(1, 5))) <= 8


class _Waiting:
    """Its property takes until `end`."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()

    @cached_property
    def value(self) -> object:
        self.begun.set()
        self.end.wait(60)
        return object()


def test_a_child_reads_a_property_that_a_thread_of_its_parent_was_computing() -> None:
    """With the property of Python 3.11 it waits for ever for a lock that nobody holds in the child."""
    first, second = _Waiting(), _Waiting()
    second.end.set()
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    first.begun.wait(60)
    child = os.fork()
    if child == 0:
        threading.Timer(30, lambda: os._exit(1)).start()
        os._exit(0 if second.value is second.value else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    first.end.set()
    thread.join()


def test_threads_that_compute_a_property_at_once_get_one_value() -> None:
    shared = _Waiting()
    with ThreadPoolExecutor(4) as pool:
        values = [pool.submit(lambda: shared.value) for _ in range(4)]
        shared.begun.wait(60)
        shared.end.set()
        assert len({id(value.result()) for value in values}) == 1


def test_property_of_a_class_is_the_property_itself() -> None:
    assert isinstance(_Waiting.value, cached_property)
