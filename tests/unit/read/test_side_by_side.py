"""Streams read at the same time: order, errors, bounds, endings."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.read.snapshot.prefetch import side_by_side
from pyhudi.read.snapshot.query_type import THREADS


def test_items_come_in_the_order_of_the_streams() -> None:
    streams = [lambda n=n: iter(range(n * 10, n * 10 + 3)) for n in range(20)]
    assert list(side_by_side(streams, ahead=1)) == [n * 10 + m for n in range(20) for m in range(3)]


def test_no_streams_give_nothing() -> None:
    assert list(side_by_side([])) == []


def test_streams_are_read_at_the_same_time() -> None:
    together = threading.Barrier(THREADS, timeout=20)

    def stream() -> Iterator[int]:
        yield together.wait()

    assert sorted(side_by_side([stream] * THREADS)) == list(range(THREADS))


def test_error_of_a_stream_comes_after_the_items_before_it() -> None:
    def broken() -> Iterator[int]:
        yield 2
        raise KeyError("lost")

    result = []  # type: ignore[var-annotated]
    with pytest.raises(KeyError, match="lost"):
        result.extend(side_by_side([lambda: iter([1]), broken, lambda: iter([3])]))  # extend keeps what came before
    assert result == [1, 2]


def test_no_stream_is_read_further_ahead_than_allowed() -> None:
    made = []

    def stream() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    rows = side_by_side([stream] * 3, ahead=2)
    next(rows)
    time.sleep(0.1)
    assert len(made) <= 3 * (2 + 1) + 1
    rows.close()


def test_closing_ends_every_stream() -> None:
    open_streams: set[int] = set()

    def stream(number: int) -> Iterator[int]:
        open_streams.add(number)
        try:
            yield from range(1000)
        finally:
            open_streams.discard(number)

    rows = side_by_side([partial(stream, number) for number in range(8)], ahead=1)
    next(rows)
    assert open_streams
    rows.close()
    deadline = time.monotonic() + 20
    while open_streams and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not open_streams


def test_streams_that_nobody_reads_keep_no_others_waiting() -> None:
    present = [side_by_side([partial(iter, range(1000))] * THREADS, ahead=1) for _ in range(8)]
    assert [next(rows) for rows in present] == [0] * 8
    assert list(side_by_side([partial(iter, "ab"), partial(iter, "c")])) == ["a", "b", "c"]
    assert LocalEngine(threads=2).run(abs, [-1, 2]) == [1, 2]
    for rows in present:
        rows.close()
