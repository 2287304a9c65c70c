"""Which Spark sessions speak Hudi.

A setting of the session says it, which sessions that Spark clones (for streams) inherit. SQL's `RESET` and `spark.conf.unset` clear
settings, so this process also remembers the sessions by their identity in the JVM, and states the setting again when it is gone.
A session that is started after an enabled one was stopped takes its place.
"""

from __future__ import annotations

import os
import sys
from typing import Final
from weakref import WeakSet

from pyspark import SparkContext
from pyspark.sql import SparkSession

from pyhudi.spark import resolver

_ENABLED: Final = "spark.pyhudi.enabled"
_TRUE: Final = "true"


class _Enabled:
    """The enabled sessions of this process; one object of the JVM may have several in Python."""

    def __init__(self) -> None:
        self.sessions: WeakSet[SparkSession] = WeakSet()
        self.identities: set[str] = set()
        self.context: SparkContext | None = None

    def add(self, session: SparkSession) -> None:
        if session not in self.sessions:
            self.identities.add(_identity(session))
            self.context = session.sparkContext
            self.sessions.add(session)

    def holds(self, session: SparkSession) -> bool:
        return session in self.sessions or _identity(session) in self.identities

    def is_succeeded_by(self, session: SparkSession) -> bool:
        """Tell whether a session's application came after the one in which a session was last enabled: Spark runs one at a time."""
        context = session.sparkContext
        return self.context not in (None, context) and context is SparkContext._active_spark_context  # noqa: SLF001 - said nowhere else


_known: Final = _Enabled()


def is_enabled(session: SparkSession) -> bool:
    """Tell whether a session speaks Hudi; `SET spark.pyhudi.enabled = false` switches that off until it is reset."""
    if getattr(session, "_jsparkSession", None) is None:
        return False
    stated = session.conf.get(_ENABLED, "")
    if stated:
        if stated == _TRUE:
            _known.add(session)
        return stated == _TRUE
    if not (_known.holds(session) or _known.is_succeeded_by(session)):
        return False
    mark_enabled(session)
    return True


def mark_enabled(session: SparkSession) -> None:
    """Let a session speak Hudi for as long as it lives."""
    session.conf.set(_ENABLED, _TRUE)
    resolver.install(session)
    _known.add(session)
    run_workers_here(session)


def run_workers_here(session: SparkSession) -> None:
    """Let the Python workers of a local session be this Python, which has pyhudi; Spark would take the `python3` of the PATH."""
    context = session.sparkContext
    if "PYSPARK_PYTHON" not in os.environ and (context.master or "").startswith("local"):
        context.pythonExec = sys.executable


def _identity(session: SparkSession) -> str:
    return str(session._jsparkSession.sessionUUID())  # noqa: SLF001 - py4j's entry point has no public name
