"""Streams that are read at the same time and given out one after the other."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from pyhudi.read.snapshot.query_type import THREADS
from pyhudi.workers import workers

Item = TypeVar("Item")
Opener: TypeAlias = Callable[[], Iterator[Item]]


def side_by_side(streams: Sequence[Opener[Item]], *, ahead: int | None = None) -> Generator[Item, None, None]:
    """Yield the items of all streams in their order; `THREADS` of them are read at once.

    An error of a stream is raised in its place. Closing the iterator ends all reading after the items under way.

    Args:
        streams: functions that open a stream each.
        ahead: how many items of a stream may wait to be given out; None for no limit.

    Example:
        >>> list(side_by_side([lambda: iter("ab"), lambda: iter("c")]))
        ['a', 'b', 'c']
    """
    if len(streams) <= 1:
        for open_stream in streams:
            yield from open_stream()
        return
    prefetched: list[_PrefetchedStream[Item]] = [_PrefetchedStream(stream, ahead) for stream in streams]
    _open.update(prefetched)
    waiting = iter(prefetched)
    turn = threading.Lock()

    def work() -> None:
        while True:
            with turn:
                prefetched_stream = next(waiting, None)
            if prefetched_stream is None:
                return
            prefetched_stream.fill()

    try:
        if workers().take(work, min(THREADS, len(prefetched))):
            for prefetched_stream in prefetched:
                yield from prefetched_stream.taken()
        else:
            for open_stream in streams:
                yield from open_stream()
    finally:
        for prefetched_stream in prefetched:
            prefetched_stream.stop()
        _open.difference_update(prefetched)


class _PrefetchedStream(Generic[Item]):
    """One stream between the thread that reads it and the one that takes its items."""

    def __init__(self, stream: Opener[Item], ahead: int | None) -> None:
        self._stream, self._ahead = stream, ahead
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._is_over = self._is_stopped = False
        self._error: BaseException | None = None

    def fill(self) -> None:
        """Read the stream, as far ahead as allowed."""
        try:
            if not self._is_stopped:
                for item in self._stream():
                    if not self._put_item(item):
                        break
        except BaseException as error:  # noqa: BLE001 - it belongs to the thread that takes the items
            self._error = error
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def taken(self) -> Iterator[Item]:
        """Yield the items as they come."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._is_over)
                if not self._items:
                    break
                item = self._items.popleft()
                self._changed.notify_all()
            yield item
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Let the reading thread go."""
        with self._changed:
            self._is_stopped = True
            self._items.clear()
            self._changed.notify_all()

    def _put_item(self, item: Item) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or self._ahead is None or len(self._items) < self._ahead)
            if not self._is_stopped:
                self._items.append(item)
                self._changed.notify_all()
            return not self._is_stopped


#: Streams whose iterator was neither read to its end nor closed. The end of the process stops them: their threads wait for room to read on.
_open: set[_PrefetchedStream[Any]] = set()


def _stop_all() -> None:
    for prefetched_stream in tuple(_open):
        prefetched_stream.stop()


atexit.register(_stop_all)  # before the workers are waited for, which were imported earlier
os.register_at_fork(after_in_child=_open.clear)
