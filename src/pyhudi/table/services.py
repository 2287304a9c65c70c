"""`table.services`: what keeps a table in shape. This release serves rollback; the others say which release brings
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.service.rollback import failed_writes, plan_rollback, roll_back_failed_writes
from pyhudi.spec.rollback import RollbackPlan
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked import locked_table

_MERGE_ON_READ = "the release that serves merge-on-read tables"
_TABLE_SERVICES = "the release that serves clustering, cleaning and archival"
_METADATA_TABLE = "the release that serves the metadata table and its indexes"
_VERSIONS = "the release that moves tables between versions"


@dataclass(frozen=True, slots=True)
class Services:
    """Table services of one table.

    Example:
        >>> table.services.rollback(dry_run=True)  # doctest: +SKIP
        ()
    """

    storage: Storage
    clock: Clock
    ids: Ids
    wait_s: float = 60.0

    def rollback(self, instant: str | None = None, *, dry_run: bool = False) -> tuple[RollbackPlan, ...]:
        """Take back what failed writes left, and return the plans that did; the next write does the same by itself.

        Args:
            instant: the requested time of the failed write; None means all.
            dry_run: only return the plans.

        Raises:
            UsageError: the instant is not on the timeline.
            UnsupportedError: the instant is completed: taking back commits is restore.
        """
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            failed = failed_writes(table.timeline)
            if instant is not None and instant not in {one.requested for one in failed}:
                if any(one.is_completed for one in table.timeline.find(instant)):
                    raise UnsupportedError(f"{instant} is completed; taking back commits comes with {_TABLE_SERVICES}.")
                raise UsageError(f"{instant} is no failed write of table {self.storage.uri}; look at table.history().")
            if instant is not None:
                failed = tuple(one for one in failed if one.requested == instant)
            plans = tuple(plan_rollback(table, one) for one in failed)
            if not dry_run:
                roll_back_failed_writes(table, None if instant is None else {instant})
            return plans

    def compact(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("compact", _MERGE_ON_READ)

    def log_compact(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("log_compact", _MERGE_ON_READ)

    def cluster(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("cluster", _TABLE_SERVICES)

    def clean(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("clean", _TABLE_SERVICES)

    def archive(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("archive", _TABLE_SERVICES)

    def savepoint(self, *_: Any, **__: Any) -> NoReturn:
        """Not served yet."""
        raise _later("savepoint", _TABLE_SERVICES)

    def restore(self, *_: Any, **__: Any) -> NoReturn:
        """Not served yet."""
        raise _later("restore", _TABLE_SERVICES)

    def index(self, *_: Any, **__: Any) -> NoReturn:
        """Not served yet."""
        raise _later("index", _METADATA_TABLE)

    def upgrade(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("upgrade", _VERSIONS)

    def downgrade(self, **_: Any) -> NoReturn:
        """Not served yet."""
        raise _later("downgrade", _VERSIONS)


def _later(name: str, release: str) -> UnsupportedError:
    return UnsupportedError(f"table.services.{name}() comes with {release}; until then Apache Hudi can run it on the table.")
