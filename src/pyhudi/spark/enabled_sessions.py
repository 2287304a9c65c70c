"""Which Spark sessions speak Hudi.

A setting of the session says it, which sessions that Spark clones (for streams) inherit. SQL's `RESET` and `spark.conf.unset` clear
settings, so this process also remembers the sessions by their identity in the JVM, and states the setting again when it is missing.
A session that is started after an enabled one was stopped takes its place.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.conf import RuntimeConfig

from pyhudi.cache import LruCache
from pyhudi.spark.reader import catalog_resolver as resolver
from pyhudi.spark.stopped_sessions import is_running

_ENABLED: Final = "spark.pyhudi.enabled"
_TRUE: Final = "true"
#: A session forgotten for younger ones is known by its setting nevertheless, but for `RESET`.
_MOST_IDENTITIES: Final = 10_000


class _Enabled:
    """The enabled sessions of this process; one object of the JVM may have several in Python.

    Threads may share it. Nothing that asks the JVM is done under the lock.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        #: By identity; among them are those that Spark made of enabled ones.
        self.sessions: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
        #: Those that somebody enabled, made of an enabled one, or restarted: as long as there is one, Spark's methods stay replaced.
        self.requested: WeakSet[SparkSession] = WeakSet()
        self.identities: LruCache[str, bool] = LruCache(_MOST_IDENTITIES)
        self.context: SparkContext | None = None

    def add(self, session: SparkSession) -> None:
        if session not in self.sessions:
            identity = _identity(session)
            with self._lock:
                self.identities.put(identity, True)
                self.context = session.sparkContext
                self.sessions[session] = identity

    def remove(self, session: SparkSession) -> None:
        """Forget a session, whichever objects of Python stand for it."""
        identity = self.sessions[session] if session in self.sessions else _identity(session)
        self.identities.pop(identity)
        with self._lock:
            for one in [one for one, of_it in self.sessions.items() if of_it == identity]:
                del self.sessions[one]
                self.requested.discard(one)
        if not self.is_any_left():
            self.context = None

    def mark_requested(self, session: SparkSession) -> None:
        """Note that somebody enabled the session."""
        with self._lock:
            self.requested.add(session)

    def is_any_left(self) -> bool:
        with self._lock:
            sessions = tuple(self.requested)
        return any(is_running(session) for session in sessions)

    def holds(self, session: SparkSession) -> bool:
        return session in self.sessions or self.identities.get(_identity(session)) is not None

    def is_succeeded_by(self, session: SparkSession) -> bool:
        """Tell whether a session's application came after the one in which a session was last enabled: Spark runs one at a time."""
        context = session.sparkContext
        return self.context not in (None, context) and context is SparkContext._active_spark_context  # noqa: SLF001 - said nowhere else


_known: Final = _Enabled()
#: What the Python of a context's workers was before.
_PYTHONS: Final[WeakKeyDictionary[SparkContext, str]] = WeakKeyDictionary()


def is_enabled(session: SparkSession) -> bool:
    """Tell whether a session speaks Hudi; `SET spark.pyhudi.enabled = false` switches that off until it is reset."""
    if getattr(session, "_jsparkSession", None) is None:
        return False
    stated = session.conf.get(_ENABLED, "")
    if stated:
        if stated == _TRUE:
            _known.add(session)
        return stated == _TRUE
    if _known.holds(session):
        _state(session)
        return True
    if not _known.is_succeeded_by(session):
        return False
    mark_enabled(session)
    return True


def states_enabled(settings: RuntimeConfig) -> bool:
    """Tell whether settings of a session say that it speaks Hudi."""
    return settings.get(_ENABLED, "") == _TRUE


def mark_enabled(session: SparkSession) -> None:
    """Let a session speak Hudi until `mark_disabled`."""
    _state(session)
    _known.mark_requested(session)


def mark_disabled(session: SparkSession) -> bool:
    """Let a session speak Hudi no more; return whether another one still does. Harmless for one that never did, or was stopped."""
    if is_running(session):
        session.conf.unset(_ENABLED)
        if session.conf.get(_ENABLED, "") == _TRUE:  # the application's configuration says so
            session.conf.set(_ENABLED, "false")
        resolver.uninstall(session)
    if is_running(session) or session in _known.sessions:
        _known.remove(session)
    if _known.is_any_left():
        gc.collect()  # a session that only its own catalog refers to is nobody's any more
    is_any_left = _known.is_any_left()
    if not is_any_left:
        for context, python in tuple(_PYTHONS.items()):
            context.pythonExec = python
        _PYTHONS.clear()
    return is_any_left


def is_any_enabled() -> bool:
    """Tell whether there is a session for which Spark's methods have to stay replaced."""
    return _known.is_any_left()


def _state(session: SparkSession) -> None:
    session.conf.set(_ENABLED, _TRUE)
    resolver.install(session)
    _known.add(session)
    use_for_workers(session)


def use_for_workers(session: SparkSession) -> None:
    """Let the Python workers of a local session be this Python, which has pyhudi; Spark would take the `python3` of the PATH."""
    context = session.sparkContext
    if "PYSPARK_PYTHON" not in os.environ and (context.master or "").startswith("local"):
        _PYTHONS.setdefault(context, context.pythonExec)
        context.pythonExec = sys.executable


def _identity(session: SparkSession) -> str:
    return str(session._jsparkSession.sessionUUID())  # noqa: SLF001 - py4j's entry point has no public name
