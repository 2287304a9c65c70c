"""Which partitions a clustering looks at. Pure.

Rules: `ClusteringPlanPartitionFilter`, `PartitionAwareClusteringPlanStrategy.getMatchedPartitions`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

_HOURS = 24


class FilterMode(enum.StrEnum):
    """How partitions are chosen."""

    NONE = "NONE"
    RECENT_DAYS = "RECENT_DAYS"
    SELECTED_PARTITIONS = "SELECTED_PARTITIONS"
    DAY_ROLLING = "DAY_ROLLING"


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """The choice of partitions: of those that are `selected` by name, or else match `pattern` as a whole, what the mode leaves.

    RECENT_DAYS takes `lookback` of the last partitions by name, without the last `skipped`; SELECTED_PARTITIONS those from `first` to
    `last`, both included; DAY_ROLLING one in 24, by the hour.
    """

    mode: FilterMode = FilterMode.NONE
    selected: tuple[str, ...] | None = None
    pattern: re.Pattern[str] | None = None
    lookback: int = 2
    skipped: int = 0
    first: str | None = None
    last: str | None = None

    def apply(self, paths: Sequence[str], hour: int) -> list[str]:
        """Return the chosen paths in ascending order; `hour` is that of the day, in the table's time zone.

        Example:
            >>> PartitionFilter(FilterMode.RECENT_DAYS, lookback=1, skipped=1).apply(["d1", "d2", "d3"], 0)
            ['d2']
        """
        chosen = sorted(path for path in paths if self._is_named(path))
        match self.mode:
            case FilterMode.RECENT_DAYS:
                end = len(chosen) - self.skipped
                return chosen[max(0, end - self.lookback) : max(0, end)]
            case FilterMode.SELECTED_PARTITIONS:
                return [path for path in chosen if (self.first or path) <= path <= (self.last or path)]
            case FilterMode.DAY_ROLLING:
                return [path for index, path in enumerate(chosen) if index % _HOURS == hour]
            case _:
                return chosen

    def _is_named(self, path: str) -> bool:
        if self.selected is not None:
            return path in self.selected
        return self.pattern is None or self.pattern.fullmatch(path) is not None
