"""How a write shares its table with other writers, as its options say.

Rules: `WriteConcurrencyMode`, `HoodieLockConfig`; docs/format/concurrency.md. Where several writers work at a time each sends heartbeats,
and failed writes are rolled back once their heartbeats have expired, whatever `hoodie.clean.failed.writes.policy` says.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError, did_you_mean
from pyhudi.spec.options import Options

MODE: Final = "hoodie.write.concurrency.mode"
STRATEGY: Final = "hoodie.write.lock.conflict.resolution.strategy"
RETRIES: Final = "hoodie.write.num.retries.on.conflict.failures"
_OPTIMISTIC: Final = "OPTIMISTIC_CONCURRENCY_CONTROL"
_NON_BLOCKING: Final = "NON_BLOCKING_CONCURRENCY_CONTROL"
_MODES: Final = ("SINGLE_WRITER", _OPTIMISTIC)
_PACKAGE: Final = "org.apache.hudi.client.transaction."


class ConflictStrategy(enum.StrEnum):
    """What counts as a conflict, by the names of Apache Hudi's classes without their package."""

    SIMPLE = "SimpleConcurrentFileWritesConflictResolutionStrategy"
    PREFER_WRITER = "PreferWriterConflictResolutionStrategy"
    BUCKET_INDEX = "BucketIndexConcurrentFileWritesConflictResolutionStrategy"


@dataclass(frozen=True, slots=True)
class Concurrency:
    """`is_optimistic` writes do not hold the table's lock while they write files; of two that changed the same file groups the second one
    to commit fails, and is repeated `retries` times. `strategy` is None where the index of the table decides.
    """

    is_optimistic: bool = False
    strategy: ConflictStrategy | None = None
    retries: int = 0


SINGLE_WRITER: Final = Concurrency()


def is_optimistic(options: Options) -> bool:
    """Tell whether the options ask for several writers at a time.

    Raises:
        OptionError: there is no such mode.
        UnsupportedError: the mode is not served.
    """
    mode = options.text(MODE).strip().upper()
    if mode == _NON_BLOCKING:
        raise UnsupportedError(f"{MODE}={mode} comes with a later release; take {_OPTIMISTIC}, or leave the option out.")
    if mode not in _MODES:
        raise OptionError(f"{MODE} is '{mode}'; it can be {' or '.join(_MODES)}.{did_you_mean(mode, _MODES)}")
    return mode == _OPTIMISTIC


def concurrency(options: Options) -> Concurrency:
    """Return what the options say; errors as in `is_optimistic`, and for the strategy.

    Example:
        >>> from pyhudi.spec.options import resolve
        >>> concurrency(resolve({"hoodie.write.concurrency.mode": "optimistic_concurrency_control"})).is_optimistic
        True
    """
    strategy = _strategy(options.text(STRATEGY).strip())
    if not is_optimistic(options):
        return SINGLE_WRITER
    return Concurrency(is_optimistic=True, strategy=strategy, retries=options.integer(RETRIES))


def _strategy(name: str) -> ConflictStrategy | None:
    if not name:
        return None
    simple_name = name.removeprefix(_PACKAGE)
    known = [one.value for one in ConflictStrategy if one is not ConflictStrategy.PREFER_WRITER]
    if simple_name not in known:
        served = ", ".join(f"{_PACKAGE}{one}" for one in known)
        raise UnsupportedError(f"{STRATEGY}={name} is not served: pyhudi loads no classes by name. It can be {served}.")
    return ConflictStrategy(simple_name)
