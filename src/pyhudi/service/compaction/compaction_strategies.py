"""Which file slices a compaction takes: Hudi's strategies, by the names of their classes. Pure.

Rules: `CompactionStrategy` and its subclasses in `org.apache.hudi.table.action.compact.strategy`. A strategy drops partitions before their
files are looked at, then orders and drops operations. Several, parted by commas, work one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.actions.compaction import TOTAL_IO_MB, TOTAL_LOG_FILES_SIZE, CompactionOperation
from pyhudi.timeline.clock import day_before

DEFAULT_STRATEGY = "org.apache.hudi.table.action.compact.strategy.LogFileSizeBasedCompactionStrategy"
_DAY = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")
_FIELD_NAME = re.compile(r"(?:^|(?<=/))[^/=]*=")

Operations = Sequence[CompactionOperation]
Paths = Sequence[str]


@dataclass(frozen=True, slots=True)
class StrategyLimits:
    """What the strategies go by: `target_io_mb` megabytes to read and write, least size in bytes and number of the log files of a slice,
    days, the pattern of partition paths, and the present day.
    """

    today: date
    target_io_mb: int = 500 * 1024
    least_log_bytes: int = 0
    least_log_files: int = 0
    target_partitions: int = 10
    partition_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """One strategy: what it does to partition paths, and to operations."""

    partitions: Callable[[Paths, StrategyLimits], Paths]
    operations: Callable[[Operations, StrategyLimits], Operations]


def strategies_of(names: str) -> tuple[Strategy, ...]:
    """Return the strategies that class names stand for; package names may be left out.

    Raises:
        UnsupportedError: a class is not one of Hudi's.

    Example:
        >>> len(strategies_of("DayBasedCompactionStrategy,BoundedIOCompactionStrategy"))
        2
    """
    return tuple(_strategy(name.strip()) for name in names.split(","))


def _strategy(name: str) -> Strategy:
    match = _STRATEGIES.get(name.rpartition(".")[2].removesuffix("CompactionStrategy"))
    if match is None:
        served = ", ".join(f"{short}CompactionStrategy" for short in _STRATEGIES)
        raise UnsupportedError(f"hoodie.compaction.strategy: '{name}' is not served, pyhudi loads no classes by name; served are {served}")
    return match


def partition_day(path: str) -> date | None:
    """Return the day that a partition path is named for, `2026/01/31` or `2026-01-31`, also in hive style; None when it is for none.

    Example:
        >>> partition_day("year=2026/month=1/day=31")
        datetime.date(2026, 1, 31)
    """
    match = _DAY.fullmatch(_FIELD_NAME.sub("", path))
    try:
        return None if match is None else date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _day(path: str) -> date:
    day = partition_day(path)
    if day is None:
        raise OptionError(
            f"hoodie.compaction.strategy goes by days, and the partition '{path}' is named for none (yyyy/MM/dd); take another strategy"
        )
    return day


def _all_partitions(paths: Paths, _: StrategyLimits) -> Paths:
    return paths


def _all_operations(operations: Operations, _: StrategyLimits) -> Operations:
    return operations


def _within_io(operations: Operations, limits: StrategyLimits) -> Operations:
    """Take operations until the limit is reached; the one that reaches it is the last, so one is always taken."""
    left = limits.target_io_mb
    for count, operation in enumerate(operations, 1):
        left -= int(operation.metric(TOTAL_IO_MB))
        if left <= 0:
            return operations[:count]
    return operations


def _largest_logs_first(operations: Operations, limits: StrategyLimits) -> Operations:
    large = [one for one in operations if one.metric(TOTAL_LOG_FILES_SIZE) >= limits.least_log_bytes]
    return _within_io(sorted(large, key=lambda one: -one.metric(TOTAL_LOG_FILES_SIZE)), limits)


def _most_logs_first(operations: Operations, limits: StrategyLimits) -> Operations:
    many = [one for one in operations if len(one.delta_files or ()) >= limits.least_log_files]
    return _within_io(sorted(many, key=lambda one: -len(one.delta_files or ())), limits)


def _latest_days(paths: Paths, limits: StrategyLimits) -> Paths:
    return sorted(paths, key=_day, reverse=True)[: limits.target_partitions]


def _latest_day_first(operations: Operations, _: StrategyLimits) -> Operations:
    return sorted(operations, key=lambda one: _day(one.partition_path or ""), reverse=True)


def _latest_day_first_within_io(operations: Operations, limits: StrategyLimits) -> Operations:
    return _within_io(_latest_day_first(operations, limits), limits)


def _since(limits: StrategyLimits) -> date:
    return day_before(limits.today, days=limits.target_partitions)


def _recent_days(paths: Paths, limits: StrategyLimits) -> Paths:
    return sorted((path for path in paths if _day(path) >= _since(limits)), key=_day, reverse=True)


def _older_days(paths: Paths, limits: StrategyLimits) -> Paths:
    return sorted((path for path in paths if _day(path) < _since(limits)), key=_day, reverse=True)


def _matching(paths: Paths, limits: StrategyLimits) -> Paths:
    if limits.partition_pattern is None:
        raise OptionError("PartitionRegexBasedCompactionStrategy needs hoodie.compaction.partition.path.regex")
    try:
        pattern = re.compile(limits.partition_pattern)
    except re.error as error:
        raise OptionError(f"hoodie.compaction.partition.path.regex '{limits.partition_pattern}' is no pattern: {error}") from None
    return [path for path in paths if pattern.search(path)]


_STRATEGIES = {
    "LogFileSizeBased": Strategy(_all_partitions, _largest_logs_first),
    "LogFileNumBased": Strategy(_all_partitions, _most_logs_first),
    "BoundedIO": Strategy(_all_partitions, _within_io),
    "UnBounded": Strategy(_all_partitions, _all_operations),
    "DayBased": Strategy(_latest_days, _latest_day_first),
    "DayBasedAndBoundedIO": Strategy(_latest_days, _latest_day_first_within_io),
    "BoundedPartitionAware": Strategy(_recent_days, _latest_day_first),
    "UnBoundedPartitionAware": Strategy(_older_days, _all_operations),
    "PartitionRegexBased": Strategy(_matching, _all_operations),
}
