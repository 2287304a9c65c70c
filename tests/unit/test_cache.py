"""The cache that all of the package shares: its limits, and threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pyhudi.cache import LruCache


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
