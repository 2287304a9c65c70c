"""Which partitions a clustering looks at."""

from __future__ import annotations

import re

import pytest

from pyhudi.service.clustering.partition_filter import FilterMode, PartitionFilter

DAYS = [f"2026-01-{day:02}" for day in range(1, 31)]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (PartitionFilter(), DAYS),
        (PartitionFilter(FilterMode.RECENT_DAYS), DAYS[-2:]),
        (PartitionFilter(FilterMode.RECENT_DAYS, lookback=3, skipped=1), DAYS[-4:-1]),
        (PartitionFilter(FilterMode.RECENT_DAYS, lookback=3, skipped=29), DAYS[:1]),
        (PartitionFilter(FilterMode.RECENT_DAYS, skipped=40), []),
        (PartitionFilter(FilterMode.SELECTED_PARTITIONS, first=DAYS[3], last=DAYS[5]), DAYS[3:6]),
        (PartitionFilter(FilterMode.SELECTED_PARTITIONS, first=DAYS[28]), DAYS[28:]),
        (PartitionFilter(FilterMode.DAY_ROLLING), [DAYS[5], DAYS[29]]),
        (PartitionFilter(selected=(DAYS[1], "elsewhere")), [DAYS[1]]),
        (PartitionFilter(pattern=re.compile("2026-01-0.")), DAYS[:9]),
        (PartitionFilter(pattern=re.compile("01-0")), []),
        (PartitionFilter(selected=(DAYS[1],), pattern=re.compile("none")), [DAYS[1]]),
    ],
)
def test_partitions_are_chosen_as_hudi_chooses_them(chosen: PartitionFilter, expected: list[str]) -> None:
    assert chosen.apply(DAYS[::-1], hour=5) == expected
