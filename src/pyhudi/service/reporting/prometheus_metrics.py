"""Metrics for Prometheus: served on a port of this process, or pushed to a Pushgateway, in its text format.

Rules: `PrometheusReporter`, `PushGatewayMetricsReporter`. Names are those of Apache Hudi with `_` for what Prometheus does not take.
"""

from __future__ import annotations

import http.client
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from pyhudi.errors import OptionError, ReportingError
from pyhudi.service.reporting.socket_metrics import port_of
from pyhudi.spec.options import Options

_PORT: Final = "hoodie.metrics.prometheus.port"
_GATEWAY: Final = "hoodie.metrics.pushgateway"
_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMEOUT_S: Final = 10.0
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9:_]")
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_MOST_SERVERS: Final = 8
_MOST_VALUES: Final = 10_000


def prometheus_text(values: Mapping[str, int]) -> str:
    """Return gauges in Prometheus's text format.

    Example:
        >>> print(prometheus_text({"trips.commit.duration": 12}), end="")
        # TYPE trips_commit_duration gauge
        trips_commit_duration 12
    """
    names = {_name(name): value for name, value in sorted(values.items())}
    return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in names.items())


def _name(name: str) -> str:
    plain = _NOT_IN_NAMES.sub("_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


class _Server:
    """Answers each request with the newest values of one port."""

    def __init__(self, port: int) -> None:
        self._values: dict[str, int] = {}
        self._changes = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = server.text().encode()
                self.send_response(200)
                self.send_header("Content-Type", _CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        http_server = ThreadingHTTPServer(("", port), Handler)
        http_server.daemon_threads = True
        threading.Thread(target=http_server.serve_forever, name="pyhudi-metrics", daemon=True).start()

    def update(self, values: Mapping[str, int]) -> None:
        """Replace values; those of tables that are too many are left out."""
        with self._changes:
            self._values = dict(list({**self._values, **values}.items())[-_MOST_VALUES:])

    def text(self) -> str:
        """Return the newest values."""
        with self._changes:
            return prometheus_text(self._values)


_SERVERS: dict[int, _Server] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class PrometheusReporter:
    """Serves the newest values on a port until the process ends."""

    port: int

    def report(self, values: Mapping[str, int]) -> None:
        """Serve values.

        Raises:
            ReportingError: the port is taken.
        """
        with _LOCK:
            if self.port not in _SERVERS:
                if len(_SERVERS) >= _MOST_SERVERS:
                    raise ReportingError(f"this process serves metrics on {_MOST_SERVERS} ports; give {_PORT} one of {sorted(_SERVERS)}")
                try:
                    _SERVERS[self.port] = _Server(self.port)
                except OSError as error:
                    raise ReportingError(f"metrics cannot be served on port {self.port}: {error}") from error
        _SERVERS[self.port].update(values)


@dataclass(frozen=True, slots=True)
class PushgatewayReporter:
    """Pushes values to a Pushgateway, where they replace those of the same name, job and labels."""

    host: str
    port: int
    path: str

    def report(self, values: Mapping[str, int]) -> None:
        """Push values.

        Raises:
            ReportingError: the gateway cannot be reached, or refuses.
        """
        url = f"http://{self.host}:{self.port}{self.path}"
        body = prometheus_text(values).encode()
        request = urllib.request.Request(url, body, {"Content-Type": _CONTENT_TYPE}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310 - the same
                return
        except urllib.error.HTTPError as error:
            with error:
                raise ReportingError(f"the Pushgateway at {url} answers with status {error.code}") from None
        except (OSError, http.client.HTTPException) as error:
            raise ReportingError(f"the Pushgateway at {url} cannot be reached: {error}") from error


def _pushgateway(options: Options) -> PushgatewayReporter:
    host, job = options.text(f"{_GATEWAY}.host").strip(), options.text(f"{_GATEWAY}.job.name").strip()
    if not job:
        raise OptionError(f"metrics are pushed under the name of a job: set {_GATEWAY}.job.name.")
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\]", host):
        raise OptionError(f"{_GATEWAY}.host={host} is no host; give its name or address, and the port as {_GATEWAY}.port.")
    labels = [label.strip() for label in options.text(f"{_GATEWAY}.report.labels").split(",") if label.strip()]
    path = f"/metrics/job/{urllib.parse.quote(job, safe='')}"
    for label in labels:
        name, separator, value = (part.strip() for part in label.partition(":"))
        if not separator or not value or not _LABEL.fullmatch(name):
            raise OptionError(f"{_GATEWAY}.report.labels has '{label}', which is no label; give them as name:value,other:value.")
        path += f"/{name}/{urllib.parse.quote(value, safe='')}"
    return PushgatewayReporter(host, port_of(options, f"{_GATEWAY}.port"), path)


PROMETHEUS_REPORTERS: Final[dict[str, Callable[[Options], Any]]] = {
    "PROMETHEUS": lambda options: PrometheusReporter(port_of(options, _PORT)),
    "PROMETHEUS_PUSHGATEWAY": _pushgateway,
}
