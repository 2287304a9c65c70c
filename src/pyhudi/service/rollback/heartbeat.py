"""Heartbeats: how a writer of Apache Hudi that shares a table with others says that it is alive.

Rules: `HoodieHeartbeatClient`; docs/format/concurrency.md#heartbeats-and-failed-writes. pyhudi's own writers hold the table's lock instead
and write none.
"""

from __future__ import annotations

from pyhudi.errors import ConflictError
from pyhudi.spec.instant import Instant
from pyhudi.txn.locked_table import LockedTable

#: Hudi beats once a minute and tolerates two missed beats.
_ALIVE_MS = 120_000


def check_writer_has_died(table: LockedTable, pending: Instant) -> None:
    """Refuse to roll back a write whose writer is alive.

    Raises:
        ConflictError: its heartbeat is fresh.
    """
    beat = table.storage.stat(heartbeat_path(pending.requested))
    if beat is not None and table.clock.now().timestamp() * 1000 - beat.modified_ms < _ALIVE_MS:
        raise ConflictError(
            f"{pending.action} {pending.requested} of table {table.storage.uri} is being written: its writer showed life less than two"
            " minutes ago. Wait for it and try again."
        )


def heartbeat_path(requested: str) -> str:
    """Return the path of a write's heartbeat file."""
    return f".hoodie/.heartbeat/{requested}"
