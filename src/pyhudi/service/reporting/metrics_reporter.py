"""Where metrics go: the protocol of a reporter, and which one the options of a call name.

Rules: `HoodieMetricsConfig`, `MetricsReporterType`, `MetricsReporterFactory`. Values are sent when they change, not by a clock, so that a
job that ends has sent all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from pyhudi.errors import HudiError, OptionError, ReportingError, UnsupportedError
from pyhudi.service.reporting.prometheus_metrics import PROMETHEUS_REPORTERS
from pyhudi.service.reporting.socket_metrics import SOCKET_REPORTERS
from pyhudi.service.reporting.stored_metrics import STORED_REPORTERS
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.user_class import user_object

ON: Final = "hoodie.metrics.on"
TYPE: Final = "hoodie.metrics.reporter.type"
CLASS: Final = "hoodie.metrics.reporter.class"
PREFIX: Final = "hoodie.metrics.reporter.metricsname.prefix"
#: Reporters of Apache Hudi that are not served, and why.
_UNSERVED: Final = {
    "JMX": "JMX belongs to a JVM",
    "DATADOG": "its agent takes StatsD",
    "CLOUDWATCH": "its agent takes StatsD",
    "M3": "it takes Prometheus's metrics and Graphite's",
}


class MetricsReporter(Protocol):
    """Takes the metrics of commits and table services."""

    def report(self, values: Mapping[str, int]) -> None:
        """Take values by name, such as `trips.commit.totalRecordsWritten`. What is raised is logged, and fails no commit.

        Args:
            values: gauges; those that are not named keep their values.
        """
        ...


#: How each type is made of options.
_MADE: Final[dict[str, Callable[[Options], MetricsReporter]]] = {**STORED_REPORTERS, **SOCKET_REPORTERS, **PROMETHEUS_REPORTERS}
_REGISTERED: dict[str, MetricsReporter] = {}


def register_metrics_reporter(name: str, reporter: MetricsReporter) -> None:
    """Send metrics to `reporter` where options name it, in this process.

    Args:
        name: what `hoodie.metrics.reporter.class` says.
        reporter: takes the metrics.

    Example:
        >>> class Printing:
        ...     def report(self, values):
        ...         print(values["trips.commit.totalRecordsWritten"])
        >>> register_metrics_reporter("com.example.Printing", Printing())
    """
    _REGISTERED[name] = reporter


@dataclass(frozen=True, slots=True)
class Metrics:
    """A reporter, and what comes before the names of its metrics."""

    reporter: MetricsReporter
    prefix: str

    def report(self, values: Mapping[str, int]) -> None:
        """Send values.

        Raises:
            ReportingError: the reporter failed.
        """
        if not values:
            return
        try:
            self.reporter.report({f"{self.prefix}.{name}": value for name, value in values.items()})
        except HudiError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise ReportingError(f"the metrics reporter failed: {type(error).__name__}: {error}") from error


def metrics_of(options: Options, config: TableConfig) -> Metrics | None:
    """Return the metrics that options ask for; None where they ask for none.

    Raises:
        OptionError: an option is wrong, or a class is no reporter.
        UnsupportedError: the reporter is one that is not served.
    """
    if not options.flag(ON):
        return None
    return Metrics(_reporter(options), options.text(PREFIX).strip() or config.name)


def _reporter(options: Options) -> MetricsReporter:
    if name := options.text(CLASS).strip():
        return _user_reporter(name)
    kind = options.text(TYPE).strip().upper()
    if reason := _UNSERVED.get(kind):
        raise UnsupportedError(f"{TYPE}={kind} is not served: {reason}. Served are {', '.join(sorted(_MADE))}.")
    if kind not in _MADE:
        raise OptionError(f"{TYPE}={options.text(TYPE)} is no type of reporter; it can be {', '.join(sorted(_MADE))}.")
    return _MADE[kind](options)


def _user_reporter(name: str) -> MetricsReporter:
    if name in _REGISTERED:
        return _REGISTERED[name]
    if ":" not in name:
        raise UnsupportedError(
            f"{CLASS}={name} is not served: Java classes are not loaded. Register a Python implementation,"
            f" pyhudi.register_metrics_reporter(name, reporter), name it as module:Class, or choose one by {TYPE}."
        )
    reporter: MetricsReporter = user_object(CLASS, name, "report(values)", "metrics reporter")
    return reporter
