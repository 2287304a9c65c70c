"""The rows of Apache Hudi's quick start, as its class `org.apache.hudi.QuickstartUtils` makes them for scripts in Python.

Methods have Hudi's names. The numbers are those of `java.util.Random` with Hudi's seed, so that a script shows the rides of its guide; keys
and times are new in each run, as they are there.
"""
# ruff: noqa: N802 - the names of Hudi's methods

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.javacompat.java_random import JavaRandom
from pyhudi.timeline.clock import Clock, SystemClock
from pyhudi.txn.ids import Ids, SystemIds

_PATHS: Final = ("americas/united_states/san_francisco", "americas/brazil/sao_paulo", "asia/india/chennai")
_SEED: Final = 46474747
_WEEK_MS: Final = 7 * 24 * 3600 * 1000
_PARALLELISM: Final = ("upsert", "insert", "bulkinsert", "delete")


@dataclass(frozen=True, slots=True)
class Ride:
    """A row of the quick start."""

    ts: int
    uuid: str
    rider: str
    driver: str
    begin_lat: float
    begin_lon: float
    end_lat: float
    end_lon: float
    fare: float
    partitionpath: str


class DataGenerator:
    """Makes new rides, and new versions of those that it made.

    Args:
        partition_paths: those that the rides are in.
        clock: rides are of the week before its time.
        ids: where the keys come from.

    Example:
        >>> rides = DataGenerator().generateInserts(2)
        >>> rides[0].rider, rides[0].partitionpath
        ('rider-213', 'americas/brazil/sao_paulo')
    """

    def __init__(self, partition_paths: Sequence[str] = _PATHS, clock: Clock | None = None, ids: Ids | None = None) -> None:
        self._paths, self._clock = tuple(partition_paths), clock or SystemClock()
        self._ids = ids or SystemIds()
        self._random, self._unseeded = JavaRandom(_SEED), JavaRandom(self._now_ms())
        self._keys: list[tuple[str, str]] = []

    def generateInserts(self, n: int) -> list[Ride]:
        """Return `n` new rides."""
        name, rides = self._name(), []
        for _ in range(n):
            key = self._ids.file_prefix(), self._paths[self._random.number_below(len(self._paths))]
            self._keys.append(key)
            rides.append(self._ride(key, name))
        return rides

    def generateUpdates(self, n: int) -> list[Ride]:
        """Return `n` new versions of rides, perhaps several of one.

        Raises:
            UsageError: there are no rides yet.
        """
        name = self._name()
        return [self._ride(self._keys[self._known()], name) for _ in range(n)]

    def generateUniqueUpdates(self, n: int) -> list[Ride]:
        """Return new versions of `n` different rides.

        Raises:
            UsageError: there are fewer.
        """
        if n > len(self._keys):
            raise UsageError(f"generateUniqueUpdates({n}): the generator made {len(self._keys)} rides so far; generate inserts first.")
        name = self._name()
        rest = list(self._keys)
        return [self._ride(rest.pop(self._unseeded.number_below(len(rest))), name) for _ in range(n)]

    def getNumExistingKeys(self) -> int:
        """Return how many rides were made."""
        return len(self._keys)

    def _known(self) -> int:
        if not self._keys:
            raise UsageError("generateUpdates: the generator made no rides yet; generate inserts first.")
        return self._random.number_below(len(self._keys))

    def _now_ms(self) -> int:
        return int(self._clock.now().timestamp() * 1000)

    def _name(self) -> str:
        return "".join(self._random.digit() for _ in range(3))

    def _ride(self, key: tuple[str, str], name: str) -> Ride:
        numbers = [self._random.fraction() for _ in range(5)]
        time_ms = self._now_ms() - self._unseeded.number_below(_WEEK_MS)
        begin_lat, begin_lon, end_lat, end_lon, fare = numbers
        return Ride(time_ms, key[0], f"rider-{name}", f"driver-{name}", begin_lat, begin_lon, end_lat, end_lon, fare * 100, key[1])


class QuickstartUtils:
    """What `sc._jvm.org.apache.hudi.QuickstartUtils` is for a script."""

    DataGenerator = DataGenerator

    @staticmethod
    def convertToStringList(records: Iterable[Ride]) -> list[str]:
        """Return each ride in JSON."""
        return [json.dumps(asdict(ride)) for ride in records]

    @staticmethod
    def getQuickstartWriteConfigs() -> dict[str, str]:
        """Return the options of the quick start's writes."""
        return {f"hoodie.{operation}.shuffle.parallelism": "2" for operation in _PARALLELISM}
