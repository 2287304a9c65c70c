"""What a savepoint keeps.

Rules: `HoodieSavepointMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavepointMetadata:
    """Content of a completed savepoint; `at_ms` in epoch milliseconds, `files` are base and log file names by
    partition path.
    """

    user: str
    at_ms: int
    comments: str
    files: Mapping[str, tuple[str, ...]]
    version: int | None = 1
