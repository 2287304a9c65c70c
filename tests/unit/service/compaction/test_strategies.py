"""Which slices each strategy takes, and in which order."""

from __future__ import annotations

from datetime import date

import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.service.compaction.compaction_strategies import DEFAULT_STRATEGY, StrategyLimits, partition_day, strategies_of
from pyhudi.spec.actions.compaction import TOTAL_IO_MB, TOTAL_LOG_FILES_SIZE, CompactionOperation

TODAY = date(2026, 3, 10)
DAYS = ["2026/03/12", "2026/03/10", "2026/03/09", "2026/03/07", "2026/02/01"]


def operation(name: str, *, log_bytes: int = 0, logs: int = 1, io_mb: int = 10, path: str = "p") -> CompactionOperation:
    metrics = {TOTAL_LOG_FILES_SIZE: float(log_bytes), TOTAL_IO_MB: float(io_mb)}
    return CompactionOperation("20260101000000000", name, path, None, tuple(f"log {n}" for n in range(logs)), metrics)


def chosen(strategy: str, operations: list[CompactionOperation], **limits) -> list[str]:
    (result,) = strategies_of(f"{strategy}CompactionStrategy")
    return [one.file_id or "" for one in result.operations(operations, StrategyLimits(TODAY, **limits))]


def partitions(strategy: str, paths: list[str], **limits) -> list[str]:
    (result,) = strategies_of(f"org.apache.hudi.table.action.compact.strategy.{strategy}CompactionStrategy")
    return list(result.partitions(paths, StrategyLimits(TODAY, **limits)))


def test_default_takes_the_largest_logs_first() -> None:
    (result,) = strategies_of(DEFAULT_STRATEGY)
    operations = [operation("a", log_bytes=5), operation("b", log_bytes=9), operation("c", log_bytes=5)]
    assert [one.file_id for one in result.operations(operations, StrategyLimits(TODAY))] == ["b", "a", "c"]


def test_logs_below_the_size_threshold_wait() -> None:
    operations = [operation("a", log_bytes=99), operation("b", log_bytes=100)]
    assert chosen("LogFileSizeBased", operations, least_log_bytes=100) == ["b"]


def test_most_log_files_first_from_the_threshold_on() -> None:
    operations = [operation("a", logs=2), operation("b", logs=1), operation("c", logs=4)]
    assert chosen("LogFileNumBased", operations, least_log_files=2) == ["c", "a"]


@pytest.mark.parametrize(("target", "expected"), [(25, ["a", "b", "c"]), (20, ["a", "b"]), (11, ["a", "b"]), (10, ["a"]), (1, ["a"])])
def test_bounded_io_ends_with_the_operation_that_reaches_the_target(target, expected) -> None:
    assert chosen("BoundedIO", [operation(name) for name in "abc"], target_io_mb=target) == expected


def test_size_based_is_bounded_after_ordering() -> None:
    operations = [operation("small", log_bytes=1), operation("large", log_bytes=2)]
    assert chosen("LogFileSizeBased", operations, target_io_mb=10) == ["large"]


def test_unbounded_takes_everything_as_it_comes() -> None:
    assert chosen("UnBounded", [operation(name) for name in "cab"], target_io_mb=1, least_log_bytes=99) == ["c", "a", "b"]


def test_day_based_takes_the_latest_days_and_compacts_them_first() -> None:
    assert partitions("DayBased", DAYS[::-1], target_partitions=2) == ["2026/03/12", "2026/03/10"]
    operations = [operation("old", path="2026/03/10"), operation("new", path="2026/03/12")]
    assert chosen("DayBased", operations, target_io_mb=1) == ["new", "old"]
    assert chosen("DayBasedAndBoundedIO", operations, target_io_mb=1) == ["new"]


def test_partition_aware_strategies_split_the_days_between_them() -> None:
    recent = partitions("BoundedPartitionAware", DAYS, target_partitions=3)
    older = partitions("UnBoundedPartitionAware", DAYS, target_partitions=3)
    assert recent == ["2026/03/12", "2026/03/10", "2026/03/09", "2026/03/07"]
    assert older == ["2026/02/01"]


def test_pattern_picks_partitions_it_is_found_in() -> None:
    assert partitions("PartitionRegexBased", ["eu/oslo", "us/lima", "eu/bern"], partition_pattern="^eu/") == ["eu/oslo", "eu/bern"]


@pytest.mark.parametrize(("pattern", "message"), [(None, r"needs hoodie\.compaction\.partition\.path\.regex"), ("(", "is no pattern")])
def test_missing_or_broken_pattern_is_refused(pattern, message) -> None:
    with pytest.raises(OptionError, match=message):
        partitions("PartitionRegexBased", ["x"], partition_pattern=pattern)


def test_partition_that_is_no_day_is_refused_by_name() -> None:
    with pytest.raises(OptionError, match="'oslo'"):
        partitions("DayBased", ["2026/03/12", "oslo"])


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026/03/09", date(2026, 3, 9)),
        ("2026-03-09", date(2026, 3, 9)),
        ("y=2026/m=03/d=09", date(2026, 3, 9)),
        ("dt=2026-03-09", date(2026, 3, 9)),
        ("2026/02/30", None),
        ("2026/03", None),
        ("", None),
    ],
)
def test_day_of_a_partition_path(path, day) -> None:
    assert partition_day(path) == day


def test_unknown_class_is_refused_and_served_ones_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"'com\.example\.Mine'.*BoundedIOCompactionStrategy"):
        strategies_of("com.example.Mine")
