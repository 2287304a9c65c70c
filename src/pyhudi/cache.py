"""What a process caches: values by key, of a limited size in all, and properties of an object.

Threads share both, and a fork at any time does them no harm.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, Generic, Self, TypeVar, cast, overload

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: Of all caches: what is done under it takes a microsecond. A fork waits for it, so that no child finds a cache half changed.
_LOCK: Final = threading.RLock()


class LruCache(Generic[Key, Value]):
    """Values by key, the latest used last; threads may share it.

    Args:
        most: how large the values may be together; one that is larger alone is not cached.
        size_of: the size of a value; each counts as one when left out.
        most_entries: how many values there may be, whatever their size.

    Example:
        >>> cache = LruCache(2)
        >>> for number in range(3):
        ...     cache.put(number, str(number))
        >>> cache.get(0), cache.get(2), list(cache)
        (None, '2', [1, 2])
    """

    def __init__(self, most: int, size_of: Callable[[Value], int] = lambda _: 1, most_entries: int | None = None) -> None:
        self._most = most
        self._size_of = size_of
        self._most_entries = most if most_entries is None else most_entries
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, None when there is none."""
        with _LOCK:
            entry = self._values.get(key)
            if entry is None:
                return None
            self._values.move_to_end(key)
            return entry[0]

    def get_all(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Return the values of those keys that have one.

        Example:
            >>> cache = LruCache(2)
            >>> cache.put(1, "a")
            >>> cache.get_all([1, 2])
            {1: 'a'}
        """
        result: dict[Key, Value] = {}
        with _LOCK:
            for key in keys:
                entry = self._values.get(key)
                if entry is not None:
                    self._values.move_to_end(key)
                    result[key] = entry[0]
        return result

    def put(self, key: Key, value: Value) -> None:
        """Cache a value, and drop the least recently used ones that exceed the limit."""
        size = self._size_of(value)
        with _LOCK:
            self._drop(key)
            if size > self._most:
                return
            self._values[key] = value, size
            self._size += size
            while self._size > self._most or len(self._values) > self._most_entries:
                self._drop(next(iter(self._values)))

    def pop(self, key: Key) -> Value | None:
        """Remove a key and return its value, None when there is none."""
        with _LOCK:
            return self._drop(key)

    def __iter__(self) -> Iterator[Key]:
        """Yield the keys as they are now, the least recently used first."""
        with _LOCK:
            return iter(tuple(self._values))

    def _drop(self, key: Key) -> Value | None:
        entry = self._values.pop(key, None)
        if entry is None:
            return None
        self._size -= entry[1]
        return entry[0]


class cached_property(Generic[Value]):  # noqa: N801 - as the one of Python
    """A property that is computed when it is read first.

    The one of Python 3.11 holds a lock meanwhile, one for all instances: threads would wait for each other's tables, and a child that is
    forked while another thread holds it would wait for ever. Here threads that read a property at the same time may each compute it; all
    get the same value.

    Example:
        >>> class Table:
        ...     @cached_property
        ...     def state(self):
        ...         return object()
        >>> table = Table()
        >>> table.state is table.state
        True
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        """Compute nothing yet; the name and the documentation are those of `function`."""
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | Value:
        """Return the value of an instance, which Python finds in the instance itself from then on."""
        if instance is None:
            return self
        return cast(Value, instance.__dict__.setdefault(self._name, self._function(instance)))


os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)
