"""Metrics sent as lines of text: to Graphite by TCP, to StatsD by UDP.

Rules: `MetricsGraphiteReporter`, and the protocols of Graphite (`name value time`) and StatsD (`name:value|g`), which Apache Hudi does not
speak itself.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.errors import OptionError, ReportingError
from pyhudi.spec.options import Options
from pyhudi.timeline.clock import SystemClock, now_millis

_GRAPHITE: Final = "hoodie.metrics.graphite"
_STATSD: Final = "pyhudi.metrics.statsd"
_TIMEOUT_S: Final = 10.0
#: What fits a datagram in any network.
_DATAGRAM: Final = 1400
#: What would end a name in a line of either protocol.
_SEPARATORS: Final = re.compile(r"[\s:|@]+")


@dataclass(frozen=True, slots=True)
class GraphiteReporter:
    """Sends values to Graphite, behind a prefix of its own."""

    host: str
    port: int
    prefix: str

    def report(self, values: Mapping[str, int]) -> None:
        """Send values.

        Raises:
            ReportingError: Graphite cannot be reached.
        """
        seconds = now_millis(SystemClock()) // 1000
        lines = (f"{self.prefix}{_SEPARATORS.sub('-', name)} {value} {seconds}\n" for name, value in values.items())
        try:
            with socket.create_connection((self.host, self.port), _TIMEOUT_S) as connection:
                connection.sendall("".join(lines).encode())
        except OSError as error:
            raise ReportingError(f"metrics cannot be sent to Graphite at {self.host}:{self.port}: {error}") from error


@dataclass(frozen=True, slots=True)
class StatsdReporter:
    """Sends values to StatsD, as gauges. Whether somebody listens is not known: UDP has no answers."""

    host: str
    port: int

    def report(self, values: Mapping[str, int]) -> None:
        """Send values.

        Raises:
            ReportingError: the host is unknown.
        """
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, protocol) as sender:
                for datagram in _datagrams([f"{_SEPARATORS.sub('-', name)}:{value}|g" for name, value in values.items()]):
                    sender.sendto(datagram, address)
        except OSError as error:
            raise ReportingError(f"metrics cannot be sent to StatsD at {self.host}:{self.port}: {error}") from error


def _datagrams(lines: list[str]) -> Iterator[bytes]:
    datagram = b""
    for line in lines:
        if datagram and len(datagram) + len(line) >= _DATAGRAM:
            yield datagram
            datagram = b""
        datagram += line.encode() + b"\n"
    yield datagram


def port_of(options: Options, option: str) -> int:
    """Return the port that an option names.

    Raises:
        OptionError: there is no such port.
    """
    port = options.integer(option)
    if not 0 < port < 1 << 16:
        raise OptionError(f"{option}={port} is no port: it takes a number from 1 to 65535.")
    return port


def _graphite(options: Options) -> GraphiteReporter:
    prefix = options.text(f"{_GRAPHITE}.metric.prefix").strip()
    return GraphiteReporter(options.text(f"{_GRAPHITE}.host"), port_of(options, f"{_GRAPHITE}.port"), f"{prefix}." if prefix else "")


def _statsd(options: Options) -> StatsdReporter:
    return StatsdReporter(options.text(f"{_STATSD}.host"), port_of(options, f"{_STATSD}.port"))


SOCKET_REPORTERS: Final[dict[str, Callable[[Options], Any]]] = {"GRAPHITE": _graphite, "STATSD": _statsd}
