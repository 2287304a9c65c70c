"""The node of one holder in the queue of a ZooKeeper lock, over restarts of a server.

kazoo connects again by itself, and the session goes on if that is soon enough; but its calls wait for ever for a server that does not come
back, and watches end with their connection. So each call has a limit, and the queue is looked at again now and then.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from pyhudi.errors import StorageError
from pyhudi.locks.holder import new_holder_id

_MARK: Final = "lock-"
_DATA: Final = "pyhudi process "
#: Errors of kazoo by their names. A connection that was lost is made again by kazoo.
_NO_CONNECTION: Final = "ConnectionLoss"
#: What calls end in for a while when a server is restarted, with its data or without them.
_TRANSIENT: Final = (_NO_CONNECTION, "ConnectionClosedError", "SessionExpiredError", "KazooTimeoutError", "NoNodeError")
_PAUSE_S: Final = 0.2
_LOOK_AGAIN_S: Final = 5.0


class LockNode:
    """The node below `path` by which a connected client queues for the lock of a table; a call waits `wait_s` seconds for its answer."""

    def __init__(self, client: Any, path: str, table: str, wait_s: float) -> None:
        """Make nothing yet."""
        self._client, self._path, self._table, self._wait_s = client, path, table, wait_s
        self._prefix = f"_c_{new_holder_id()}-{_MARK}"
        self._node = ""
        #: The table that the holder before this one locks, as far as it says so.
        self.other_table = ""

    def wait_for_turn(self, end: float) -> bool:
        """Queue until a time of the monotonic clock, and tell whether this node is the first one. Without an answer at the end, the failure
        of the last call is raised.
        """
        while True:
            changed = threading.Event()
            failure = None
            try:
                before = self._look(changed)
            except Exception as error:
                if type(error).__name__ not in _TRANSIENT:
                    raise
                failure = error
            else:
                if before is None:
                    return True
            left_s = end - time.monotonic()
            if left_s > 0:
                changed.wait(min(left_s, _PAUSE_S if failure else _LOOK_AGAIN_S))
            elif failure is not None:
                raise failure
            elif not changed.is_set():
                self.other_table = self._stated(before or "")
                return False

    def exists(self) -> bool:
        """Ask the server whether the node is there; without an answer it may have ended with its session.

        A client that is connecting again is waited for.
        """
        end = time.monotonic() + self._wait_s
        while True:
            try:
                return self._answer("exists_async", self._node, wait_s=max(end - time.monotonic(), 0)) is not None
            except Exception as failure:  # noqa: BLE001 - whatever went wrong, nobody knows whether the session lives
                if type(failure).__name__ != _NO_CONNECTION or time.monotonic() >= end:
                    return False
                time.sleep(_PAUSE_S)

    def delete(self) -> None:
        """Leave the queue, if the server can be reached."""
        with contextlib.suppress(Exception):  # the session ends by itself when its time is over
            if self._node and self._client.connected:
                self._answer("delete_async", self._node)

    def _look(self, changed: threading.Event) -> str | None:
        """Return the node that is before this holder's, None when it comes first; `changed` is set when that one vanishes.

        The node is made where there is none. A lost answer to its creation leads to a second one: the first of the own ones counts.
        """
        if not self._node:
            data = f"{_DATA}{os.getpid()} for {self._table}".encode()
            self._node = self._answer("create_async", f"{self._path}/{self._prefix}", data, ephemeral=True, sequence=True, makepath=True)
        nodes = self._answer("get_children_async", self._path)
        mine = min((name for name in nodes if name.startswith(self._prefix)), default="")
        self._node = f"{self._path}/{mine}" if mine else ""
        if not mine:  # it ended with its session
            changed.set()
            return ""
        before = node_before(nodes, mine)
        if before is not None and self._answer("exists_async", f"{self._path}/{before}", watch=lambda _event: changed.set()) is None:
            changed.set()
        return before

    def _answer(self, call: str, *arguments: Any, wait_s: float | None = None, **named: Any) -> Any:
        return getattr(self._client, call)(*arguments, **named).get(timeout=self._wait_s if wait_s is None else wait_s)

    def _stated(self, node: str) -> str:
        with contextlib.suppress(Exception):  # this only completes the message of another error
            data = self._answer("get_async", f"{self._path}/{node}")[0].decode()
            return str(data.partition(" for ")[2]) if data.startswith(_DATA) else ""
        return ""


def node_before(nodes: Sequence[str], mine: str) -> str | None:
    """Return the node that is next before a holder's, None when it comes first. Nodes are ordered by their numbers.

    Raises:
        StorageError: the holder's node has vanished.

    Example:
        >>> node_before(["_c_b-lock-0000000002", "_c_a-lock-0000000003"], "_c_a-lock-0000000003")
        '_c_b-lock-0000000002'
    """
    order = sorted((name for name in nodes if _MARK in name), key=lambda name: name.rpartition(_MARK)[2])
    if mine not in order:
        raise StorageError(f"the node '{mine}' of a lock in ZooKeeper vanished: its session has ended. Try again.")
    index = order.index(mine)
    return order[index - 1] if index else None
