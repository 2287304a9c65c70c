"""What a restore to a savepoint plans and what it did.

Rules: `HoodieRestorePlan`, `HoodieRestoreMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Content of a requested restore."""

    instants: tuple[InstantInfo, ...]
    savepoint: str | None = None
    version: int | None = 2


@dataclass(frozen=True, slots=True)
class RestoreMetadata:
    """Content of a completed restore; `start` is its instant, `time_taken_ms` in milliseconds."""

    start: str
    time_taken_ms: int
    rolled_back: tuple[str, ...]
    rollbacks: Mapping[str, tuple[RollbackMetadata, ...]]
    instants: tuple[InstantInfo, ...] = ()
    version: int | None = 1
