"""Requests for a lock of a Hive metastore, and those whose answer was lost.

The answer has the id by which a request is withdrawn. Without it the request stays in the queue, and gets the lock, until the metastore
ends it (`hive.txn.timeout`): also the next write of the same process would wait for it. So each request says of itself what no other one
says (`agentInfo`), and `show_locks` tells the id of one that was lost.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from pyhudi.locks.holder import new_holder_id

#: Of what a request says of itself the database of a metastore holds so many characters; it fails at longer ones.
_AGENT_LENGTH: Final = 128
_ID_LENGTH: Final = 18
_AGENT: Final = re.compile("pyhudi [0-9a-f-]+, process [0-9]+, for (.*)")
#: What the lost requests of this process say of themselves. Those of a process that has ended are left to the metastore.
_LOST: Final[deque[str]] = deque(maxlen=64)


def lock_request(types: Any, database: str, table: str, uri: str) -> Any:
    """Return a new request for the exclusive lock on a table of the catalog, which a writer of the Hudi table at `uri` makes."""
    component = types.LockComponent(
        type=types.LockType.EXCLUSIVE,
        level=types.LockLevel.TABLE,
        dbname=database,
        tablename=table,
        operationType=types.DataOperationType.NO_TXN,
    )
    agent = f"pyhudi {new_holder_id()[:_ID_LENGTH]}, process {os.getpid()}, for {uri}"[:_AGENT_LENGTH]
    return types.LockRequest(component=[component], user=getpass.getuser(), hostname=socket.gethostname(), agentInfo=agent)


def note_lost(request: Any) -> None:
    """Note that a request got no answer: it may be in the queue, or get there later."""
    _LOST.append(request.agentInfo)


def has_lost() -> bool:
    """Tell whether a request of this process may be in a queue without its sender."""
    return bool(_LOST)


def withdraw_lost(types: Any, call: Callable[[str, Any], Any], database: str, table: str) -> None:
    """Withdraw the lost requests of this process for a lock, as far as the metastore shows them.

    Args:
        types: the values that a metastore takes.
        call: calls one of its methods.
        database: of the table whose lock was asked for.
        table: its name.

    Raises:
        CatalogError: the metastore does not answer, or refuses.
    """
    lost = frozenset(_LOST)
    for one in call("show_locks", types.ShowLocksRequest(dbname=database, tablename=table)).locks:
        if one.agentInfo in lost:
            with contextlib.suppress(types.NoSuchLockException, types.TxnOpenException):
                call("unlock", types.UnlockRequest(lockid=one.lockid))
            with contextlib.suppress(ValueError):  # another thread was first
                _LOST.remove(one.agentInfo)


def other_table(agent: str, table: str) -> str:
    """Return the URI of the Hudi table whose lock a request is for, as much of it as is known; `""` where it is `table`, or not known.

    Example:
        >>> other_table("pyhudi 3f2b, process 12, for /data/orders", "/data/trips"), other_table("hive", "/data/trips")
        ('/data/orders', '')
    """
    match = _AGENT.fullmatch(agent)
    if match is None or (table.startswith(match[1]) if len(agent) == _AGENT_LENGTH else table == match[1]):
        return ""
    return match[1]
