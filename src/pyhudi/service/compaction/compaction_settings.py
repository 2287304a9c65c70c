"""What the options say about compaction, in one value. Rules: `HoodieCompactionConfig` of Apache Hudi 1.2."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date

from pyhudi.service.compaction.compaction_strategies import Strategy, StrategyLimits, strategies_of
from pyhudi.service.run_mode import RunMode
from pyhudi.spec.options import Options
from pyhudi.txn.rolling_metadata import RollingMetadata, rolling_metadata


class Trigger(enum.StrEnum):
    """What makes a compaction due."""

    NUM_COMMITS = "NUM_COMMITS"
    NUM_COMMITS_AFTER_LAST_REQUEST = "NUM_COMMITS_AFTER_LAST_REQUEST"
    TIME_ELAPSED = "TIME_ELAPSED"
    NUM_AND_TIME = "NUM_AND_TIME"
    NUM_OR_TIME = "NUM_OR_TIME"


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """When to compact and what. `default_base_bytes` is the size to expect of a base file where there is none yet."""

    mode: RunMode
    trigger: Trigger
    max_delta_commits: int
    max_delta_seconds: int
    strategies: tuple[Strategy, ...]
    limits: StrategyLimits
    default_base_bytes: int
    log_inline: bool
    log_blocks: int
    rolling: RollingMetadata


def compaction_settings(options: Options, today: date) -> CompactionSettings:
    """Return what the options decide; `today` is the present day, which some strategies go by.

    Raises:
        UnsupportedError: a strategy is not one of Hudi's.
    """
    return CompactionSettings(
        mode=_mode(options),
        trigger=Trigger(options.text("hoodie.compact.inline.trigger.strategy").upper()),
        max_delta_commits=options.integer("hoodie.compact.inline.max.delta.commits"),
        max_delta_seconds=options.integer("hoodie.compact.inline.max.delta.seconds"),
        strategies=strategies_of(options.text("hoodie.compaction.strategy")),
        limits=StrategyLimits(
            today=today,
            target_io_mb=options.integer("hoodie.compaction.target.io"),
            least_log_bytes=options.integer("hoodie.compaction.logfile.size.threshold"),
            least_log_files=options.integer("hoodie.compaction.logfile.num.threshold"),
            target_partitions=options.integer("hoodie.compaction.daybased.target.partitions"),
            partition_pattern=options.get("hoodie.compaction.partition.path.regex"),
        ),
        default_base_bytes=options.integer("hoodie.parquet.max.file.size"),
        log_inline=options.flag("hoodie.log.compaction.inline"),
        log_blocks=options.integer("hoodie.log.compaction.blocks.threshold"),
        rolling=rolling_metadata(options),
    )


def _mode(options: Options) -> RunMode:
    """An option that was given beats the default, by which writes compact inline."""
    if options.flag("hoodie.datasource.compaction.async.enable") and not _given_as_true(options, "hoodie.compact.inline"):
        return RunMode.BACKGROUND
    if options.flag("hoodie.compact.schedule.inline") and not _given_as_true(options, "hoodie.compact.inline"):
        return RunMode.SCHEDULE
    return RunMode.INLINE if options.flag("hoodie.compact.inline") else RunMode.OFF


def _given_as_true(options: Options, name: str) -> bool:
    return (options.get(name) or "").strip().lower() == "true"
