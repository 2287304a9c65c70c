"""What a reader asks of a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["snapshot", "read_optimized"]


@dataclass(frozen=True, slots=True)
class SnapshotQuery:
    """One state of a table.

    `mode` read_optimized leaves log files out. `as_of` is a time in any form that `pyhudi.timeline.clock.parse_time`
    takes; None means now.
    """

    mode: Mode = "snapshot"
    as_of: str | datetime | None = None
