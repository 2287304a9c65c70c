"""How a write shares its table with other writers, as its options say.

Rules: `WriteConcurrencyMode`, `HoodieLockConfig`; docs/format/concurrency.md. Where several writers work at a time each sends heartbeats,
and failed writes are rolled back once their heartbeats have expired, whatever `hoodie.clean.failed.writes.policy` says.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError, did_you_mean
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.options import Options

STRATEGY: Final = "hoodie.write.lock.conflict.resolution.strategy"
RETRIES: Final = "hoodie.write.num.retries.on.conflict.failures"
#: How often a non-blocking write is repeated unless the option says so.
_RETRIES_OF_NON_BLOCKING: Final = 3
_PACKAGE: Final = "org.apache.hudi.client.transaction."


class ConcurrencyMode(enum.StrEnum):
    """Whether writers work at the same time, and what becomes of two that write to the same file groups."""

    SINGLE_WRITER = "SINGLE_WRITER"
    OPTIMISTIC = "OPTIMISTIC_CONCURRENCY_CONTROL"
    NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"


class ConflictStrategy(enum.StrEnum):
    """What counts as a conflict, by the names of Apache Hudi's classes without their package."""

    SIMPLE = "SimpleConcurrentFileWritesConflictResolutionStrategy"
    PREFER_WRITER = "PreferWriterConflictResolutionStrategy"
    BUCKET_INDEX = "BucketIndexConcurrentFileWritesConflictResolutionStrategy"


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Writes of other modes than SINGLE_WRITER do not hold the table's lock while they write files. Of two optimistic ones that changed
    the same file groups the second one to commit fails; non-blocking ones both commit. A write that lost a conflict is repeated `retries`
    times. `strategy` is None where the index of the table decides.
    """

    mode: ConcurrencyMode = ConcurrencyMode.SINGLE_WRITER
    strategy: ConflictStrategy | None = None
    retries: int = 0

    @property
    def has_several_writers(self) -> bool:
        """Whether others may write at the same time.

        Example:
            >>> SINGLE_WRITER.has_several_writers
            False
        """
        return self.mode is not ConcurrencyMode.SINGLE_WRITER

    @property
    def is_non_blocking(self) -> bool:
        """Whether writers append to the same file groups at the same time."""
        return self.mode is ConcurrencyMode.NON_BLOCKING


SINGLE_WRITER: Final = Concurrency()


def concurrency_mode(options: Options) -> ConcurrencyMode:
    """Return the mode that the options ask for.

    Raises:
        OptionError: there is no such mode.
    """
    stated = options.text(MODE).strip()
    mode = stated.upper()
    known = [one.value for one in ConcurrencyMode]
    if mode not in known:
        raise OptionError(f"{MODE} is '{stated}'; it can be {', '.join(known)}.{did_you_mean(mode, known)}")
    return ConcurrencyMode(mode)


def concurrency(options: Options) -> Concurrency:
    """Return what the options say; errors as in `concurrency_mode`, and for the strategy.

    Example:
        >>> from pyhudi.spec.options import resolve
        >>> concurrency(resolve({"hoodie.write.concurrency.mode": "optimistic_concurrency_control"})).has_several_writers
        True
    """
    strategy, mode = _strategy(options.text(STRATEGY).strip()), concurrency_mode(options)
    if mode is ConcurrencyMode.SINGLE_WRITER:
        return SINGLE_WRITER
    is_repeated = mode is ConcurrencyMode.NON_BLOCKING and options.get(RETRIES) is None  # its few conflicts depend on nothing it has read
    return Concurrency(mode, strategy, _RETRIES_OF_NON_BLOCKING if is_repeated else options.integer(RETRIES))


def without_buckets(uri: str) -> OptionError:
    """Return the error of a non-blocking writer or service of a table whose file groups are no buckets."""
    return OptionError(
        f"{MODE}={ConcurrencyMode.NON_BLOCKING} needs the simple bucket index, and table {uri} has none: a table gets it with its first"
        " write, by hoodie.index.type=BUCKET and hoodie.bucket.index.num.buckets. Leave the mode out, or set it to"
        f" {ConcurrencyMode.OPTIMISTIC}, for all writers of the table."
    )


def _strategy(name: str) -> ConflictStrategy | None:
    if not name:
        return None
    simple_name = name.removeprefix(_PACKAGE)
    known = [one.value for one in ConflictStrategy]
    if simple_name not in known:
        served = ", ".join(f"{_PACKAGE}{one}" for one in known)
        raise UnsupportedError(f"{STRATEGY}={name} is not served: pyhudi loads no classes by name. It can be {served}.")
    return ConflictStrategy(simple_name)
