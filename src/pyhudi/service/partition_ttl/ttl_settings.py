"""What options say about the lifetime of partitions, in one value. Rules: `HoodieTTLConfig`, `PartitionTTLStrategyType`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, did_you_mean
from pyhudi.spec.options import Options

DAYS_RETAIN: Final = "hoodie.partition.ttl.strategy.days.retain"
STRATEGY_TYPE: Final = "hoodie.partition.ttl.management.strategy.type"
_CLASS: Final = "hoodie.partition.ttl.strategy.class"
_PACKAGE: Final = "org.apache.hudi.table.action.ttl.strategy."


class TtlStrategy(enum.StrEnum):
    """What the age of a partition counts from."""

    KEEP_BY_TIME = "KEEP_BY_TIME"
    KEEP_BY_CREATION_TIME = "KEEP_BY_CREATION_TIME"


_CLASSES: Final = {
    f"{_PACKAGE}KeepByTimeStrategy": TtlStrategy.KEEP_BY_TIME,
    f"{_PACKAGE}KeepByCreationTimeStrategy": TtlStrategy.KEEP_BY_CREATION_TIME,
}


@dataclass(frozen=True, slots=True)
class TtlSettings:
    """Which partitions expire.

    Attributes:
        inline: whether writes drop expired partitions after their commit.
        strategy: what the age of a partition counts from.
        days: age in days from which on a partition has expired; none expires when it is not above 0.
        selected: the partition paths that may expire; all when there is none.
        most: how many are dropped at once, the oldest first.
    """

    inline: bool = False
    strategy: TtlStrategy = TtlStrategy.KEEP_BY_TIME
    days: int = -1
    selected: tuple[str, ...] = ()
    most: int = 1000


def ttl_settings(options: Options) -> TtlSettings:
    """Return what the options decide.

    Raises:
        OptionError: the strategy is unknown.
    """
    selected = options.text("hoodie.partition.ttl.strategy.partition.selected").split(",")
    return TtlSettings(
        inline=options.flag("hoodie.partition.ttl.inline"),
        strategy=_strategy(options),
        days=options.integer(DAYS_RETAIN),
        selected=tuple(path.strip() for path in selected if path.strip()),
        most=options.integer("hoodie.partition.ttl.strategy.max.delete.partitions"),
    )


def check_days(settings: TtlSettings) -> None:
    """Check that the options say after how many days a partition expires.

    Raises:
        OptionError: they do not, or the number is below 1.
    """
    if settings.days <= 0:
        raise OptionError(f"{DAYS_RETAIN} is {settings.days}: say after how many days a partition expires, 1 or more")


def _strategy(options: Options) -> TtlStrategy:
    class_name, name = options.text(_CLASS), options.text(STRATEGY_TYPE).upper()
    if class_name:
        if class_name not in _CLASSES:
            raise OptionError(f"{_CLASS}={class_name} is not served; it can be {' or '.join(_CLASSES)}.")
        return _CLASSES[class_name]
    if name not in TtlStrategy.__members__:
        hint = did_you_mean(name, list(TtlStrategy))
        raise OptionError(f"{STRATEGY_TYPE}={name} is not served; it can be {' or '.join(TtlStrategy)}.{hint}")
    return TtlStrategy(name)
