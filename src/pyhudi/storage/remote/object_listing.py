"""What is known of a table's objects: one page of a listing, and the changes that this process made since.

A listing is in the order of the keys, so its first page knows all objects up to its last key, also those that are not there. Where a store
lists in another order, only a listing of a single page counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pyhudi.storage.storage_protocol import FileStatus

#: Other writers change these without the lock of the table.
_ALWAYS_LIVE: Final = (".hoodie/.locks", ".hoodie/.heartbeat")
#: Tasks in other processes write no objects here.
_OF_DRIVER: Final = (".hoodie/timeline", ".hoodie/hoodie.properties")
#: Timelines of layout 1.
_OLD_TIMELINES: Final = (".hoodie", ".hoodie/metadata/.hoodie")
#: Empty objects that are files; of others it is not known whether they are the markers of folders that some clients create.
_EMPTY_FILES: Final = (".requested", ".inflight", ".savepoint")


@dataclass(frozen=True, slots=True)
class ListedObject:
    """One object: size in bytes, time of the last change in epoch milliseconds, entity tag where the store gives one."""

    size: int
    modified_ms: int
    e_tag: str | None


class ObjectListing:
    """The objects of one table as far as they are known. Threads may share it: each access is one step of the interpreter, so that no
    lock can be held at a fork.

    Args:
        objects: the objects by path.
        last: the key up to which all are known; None where all are.
    """

    def __init__(self, objects: dict[str, ListedObject], last: str | None) -> None:
        self._objects = objects
        self._last = last
        self._unknown = {path for path, one in objects.items() if not (one.size or _is_empty_file(path) or path.startswith(_ALWAYS_LIVE))}
        #: The paths in order, with the number of changes before they were put in order.
        self._order: tuple[int, list[str]] = (-1, [])
        self._changes = 0
        self._is_open = True
        self._is_shared = False

    def knows(self, path: str) -> bool:
        """Tell whether the answer for an object is known: where it is, or that it is not there."""
        return self._covers(path) and path not in self._unknown

    def knows_below(self, folder: str) -> bool:
        """Tell whether all objects in and below a folder are known."""
        return self.knows_children(folder) and not any(live.startswith(f"{folder}/") for live in _ALWAYS_LIVE)

    def knows_children(self, folder: str) -> bool:
        """Tell whether it is known which objects and folders are in a folder."""
        begin = f"{folder}/" if folder else ""
        # "0" follows "/", so the keys below the folder end before it.
        is_whole = self._last is None or (bool(folder) and f"{folder}0" <= self._last)
        return is_whole and self._covers(folder) and not any(path == folder or path.startswith(begin) for path in tuple(self._unknown))

    def find(self, path: str) -> ListedObject | None:
        """Return an object that is known, None where there is none."""
        return self._objects.get(path)

    def children(self, folder: str) -> list[FileStatus]:
        """Return the objects and folders in a folder that is known, sorted by path."""
        begin = f"{folder}/" if folder else ""
        below = [(path, one) for path in self._ordered(folder) if (one := self._objects.get(path)) is not None]
        files = [FileStatus(path, one.size, one.modified_ms) for path, one in below if "/" not in path[len(begin) :]]
        folders = {begin + path[len(begin) :].partition("/")[0] for path, _ in below if "/" in path[len(begin) :]}
        return sorted([*files, *(FileStatus(path, 0, 0, is_dir=True) for path in folders)])

    def below(self, folder: str) -> list[str]:
        """Return the paths of all objects below a folder that is known."""
        return self._ordered(folder)

    def _ordered(self, folder: str) -> list[str]:
        """Return the paths below a folder in order; put in order once, since a table may have thousands of folders."""
        changes, order = self._order
        if changes != self._changes:
            changes = self._changes
            order = sorted(self._objects)
            self._order = changes, order
        if not folder:
            return order
        return order[bisect_left(order, f"{folder}/") : bisect_left(order, f"{folder}0")]  # "0" follows "/"

    def put(self, path: str, one: ListedObject) -> None:
        """Note an object that this process wrote; where its time matters, which the store has not told, it is not known."""
        if _time_matters(path):
            self.forget(path)
            return
        self._objects[path] = one
        self._changes += 1
        self._unknown.discard(path)

    def remove(self, path: str) -> None:
        """Note that this process deleted an object."""
        self._objects.pop(path, None)
        self._changes += 1
        self._unknown.discard(path)

    def forget(self, path: str) -> None:
        """Note that it is not known what became of an object, as after a request that failed."""
        self._objects.pop(path, None)
        self._changes += 1
        if not path.startswith(_ALWAYS_LIVE):
            self._unknown.add(path)

    def share(self) -> None:
        """Note that tasks in other processes write to the table from now on."""
        self._is_shared = True

    def close(self) -> None:
        """Know nothing from now on."""
        self._is_open = False

    def _covers(self, path: str) -> bool:
        if not self._is_open or path.startswith(_ALWAYS_LIVE) or (self._is_shared and not path.startswith(_OF_DRIVER)):
            return False
        return self._last is None or path <= self._last


def listing_of_page(page: Iterable[tuple[str, ListedObject]], *, is_last: bool) -> ObjectListing:
    """Return what the first page of a listing tells; `is_last` when no other follows."""
    objects = dict(page)
    paths = list(objects)
    if is_last:
        return ObjectListing(objects, None)
    return ObjectListing(objects, paths[-1]) if paths == sorted(paths) else ObjectListing({}, "")


def _is_empty_file(path: str) -> bool:
    return path.endswith(_EMPTY_FILES) or ".marker" in path.rpartition("/")[2]


def _time_matters(path: str) -> bool:
    """Tell whether the time of an object may be that of the completion of an action, as in layout 1, and after an upgrade."""
    folder, _, name = path.rpartition("/")
    return folder in _OLD_TIMELINES or (folder.endswith(".hoodie/timeline") and "_" not in name and not name.endswith(_EMPTY_FILES))


#: The listings that follow what this process changes, each with the URL of its table.
_followers: Final[list[tuple[str, ObjectListing]]] = []


@contextmanager
def followed(url: str, listing: ObjectListing) -> Iterator[ObjectListing]:
    """Let a listing follow what this process changes of a table while the block runs; afterwards it knows nothing."""
    entry = (url, listing)
    _followers.append(entry)
    try:
        yield listing
    finally:
        listing.close()
        _followers.remove(entry)


def followers(url: str) -> tuple[ObjectListing, ...]:
    """Return the listings that follow what this process changes of a table."""
    return tuple(listing for one, listing in tuple(_followers) if one == url)
