"""Metrics that stay in this process: in memory, in its log, on its standard output.

Rules: `InMemoryMetricsReporter`, `Slf4jMetricsReporter`, `ConsoleMetricsReporter`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.cache import LruCache
from pyhudi.spec.options import Options

_log = logging.getLogger("pyhudi.metrics")
#: The newest values of INMEMORY by name.
_VALUES: LruCache[str, int] = LruCache(10_000)


def reported_metrics() -> dict[str, int]:
    """Return the newest values of `hoodie.metrics.reporter.type=INMEMORY` by name, of all tables of this process.

    Example:
        >>> options = {"hoodie.metrics.on": "true", "hoodie.metrics.reporter.type": "INMEMORY"}
        >>> _ = table.upsert([{"id": 1, "city": "oslo", "ts": 90, "fare": 9.0}], options)
        >>> [value for name, value in reported_metrics().items() if name.endswith("commit.totalUpdateRecordsWritten")]
        [1]
    """
    values = {name: _VALUES.get(name) for name in sorted(_VALUES)}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class InMemoryReporter:
    """Keeps the newest values for `reported_metrics`."""

    def report(self, values: Mapping[str, int]) -> None:
        """Keep values."""
        for name, value in values.items():
            _VALUES.put(name, value)


@dataclass(frozen=True, slots=True)
class LogReporter:
    """Writes one line for each value to the log `pyhudi.metrics`."""

    def report(self, values: Mapping[str, int]) -> None:
        """Log values."""
        for name, value in sorted(values.items()):
            _log.info("%s = %d", name, value)


@dataclass(frozen=True, slots=True)
class ConsoleReporter:
    """Prints one line for each value."""

    def report(self, values: Mapping[str, int]) -> None:
        """Print values."""
        sys.stdout.write("".join(f"{name} = {value}\n" for name, value in sorted(values.items())))


STORED_REPORTERS: Final[dict[str, Callable[[Options], Any]]] = {
    "INMEMORY": lambda _: InMemoryReporter(),
    "SLF4J": lambda _: LogReporter(),
    "CONSOLE": lambda _: ConsoleReporter(),
}
