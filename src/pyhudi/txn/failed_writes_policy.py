"""When writes that failed are rolled back. Rules: `HoodieFailedWritesCleaningPolicy`, `CleanerUtils.rollbackFailedWrites`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from pyhudi.spec.options import Options
from pyhudi.txn.concurrency import ConcurrencyMode, concurrency_mode
from pyhudi.txn.heartbeat_settings import DEFAULTS, HeartbeatSettings, heartbeat_settings

_POLICY: Final = "hoodie.clean.failed.writes.policy"
_BEFORE_WRITES: Final = "ROLLBACK_FAILED_WRITES"


class FailedWritesPolicy(enum.StrEnum):
    """Who rolls back a failed write: the next write (EAGER), the next table service (LAZY), or only an explicit rollback (NEVER)."""

    EAGER = "EAGER"
    LAZY = "LAZY"
    NEVER = "NEVER"


@dataclass(frozen=True, slots=True)
class FailedWritesSettings:
    """When failed writes are rolled back, and how a writer says that it is none of them.

    `before_writes` is whether a write does so, as one under the policy EAGER always does. `has_concurrent_writers` is whether
    others may be at work, whose writes are left alone while they are alive.
    """

    policy: FailedWritesPolicy = FailedWritesPolicy.EAGER
    heartbeats: HeartbeatSettings = DEFAULTS
    before_writes: bool = True
    has_concurrent_writers: bool = False

    @property
    def sends_heartbeats(self) -> bool:
        """Whether writers have to say that they are alive: under EAGER the process that holds the table's lock knows that no other is."""
        return self.policy is FailedWritesPolicy.LAZY

    @property
    def by_services(self) -> bool:
        """Whether table services roll back failed writes."""
        return self.policy is not FailedWritesPolicy.NEVER


EAGER: Final = FailedWritesSettings()


def failed_writes_settings(options: Options) -> FailedWritesSettings:
    """Return what the options decide. Where several writers work at a time the policy is LAZY, whatever they say of it.

    Raises:
        OptionError: the interval of heartbeats is below a second, or there is no such concurrency mode.
    """
    concurrent = concurrency_mode(options) is not ConcurrencyMode.SINGLE_WRITER
    policy = FailedWritesPolicy.LAZY if concurrent else FailedWritesPolicy(options.text(_POLICY).upper())
    before = options.text("hoodie.prewrite.cleaner.policy").upper() == _BEFORE_WRITES and policy is not FailedWritesPolicy.NEVER
    rolls_back = before or policy is FailedWritesPolicy.EAGER
    return FailedWritesSettings(policy, heartbeat_settings(options), rolls_back, concurrent)
