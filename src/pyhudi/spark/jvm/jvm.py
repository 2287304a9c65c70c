"""The few objects of Spark's own JVM that pyhudi asks through py4j: its parser, its session catalog, its analyzed
plans.

Every call is a round trip of about 0.1 ms, so callers ask for whole answers (a plan's text, a schema's JSON) and not
for nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import UnsupportedError

#: A proxy of an object in the JVM; py4j knows no types.
JavaObject: TypeAlias = Any
_MOST_CAUSES: Final = 20


def jvm_session(session: SparkSession) -> JavaObject:
    """Return the JVM's session.

    Raises:
        UnsupportedError: the session is a Spark Connect client, which has no JVM of its own.
    """
    java_session = getattr(session, "_jsparkSession", None)
    if java_session is None:
        raise UnsupportedError(
            "pyhudi needs a classic Spark session: this one is a Spark Connect client, whose parser and catalog live"
            " in the"
            " server. Start Spark in this process, for example with SparkSession.builder.master('local[*]')."
        )
    return java_session


def jvm(session: SparkSession) -> JavaObject:
    """Return the root of the JVM's packages."""
    jvm_session(session)
    return session._jvm  # noqa: SLF001 - py4j's entry point has no public name


@dataclass(frozen=True, slots=True)
class _State:
    """What stays the same while a session lives, asked once."""

    parser: JavaObject
    catalog: JavaObject
    catalog_manager: JavaObject
    cache_manager: JavaObject


_STATES: WeakKeyDictionary[SparkSession, _State] = WeakKeyDictionary()


def _state(session: SparkSession) -> _State:
    result = _STATES.get(session)
    if result is None:
        java = jvm_session(session)
        state = java.sessionState()
        result = _STATES[session] = _State(state.sqlParser(), state.catalog(), state.catalogManager(), java.sharedState().cacheManager())
    return result


def sql_parser(session: SparkSession) -> JavaObject:
    """Return the parser of this session's SQL."""
    return _state(session).parser


def parse(session: SparkSession, text: str) -> JavaObject:
    """Return Spark's unresolved plan of a statement; a syntax error is Spark's own ParseException."""
    return sql_parser(session).parsePlan(text)


def session_catalog(session: SparkSession) -> JavaObject:
    """Return the catalog of databases, tables and views of this session."""
    return _state(session).catalog


def cache_manager(session: SparkSession) -> JavaObject:
    """Return what knows the cached plans of all sessions."""
    return _state(session).cache_manager


def current_catalog(session: SparkSession) -> str:
    """Return the name of the catalog that unqualified names belong to."""
    return str(_state(session).catalog_manager.currentCatalog().name())


def java_class(session: SparkSession, name: str) -> JavaObject:
    """Return a class of the JVM by its full name; a look-up through packages costs a round trip for each, so it is kept."""
    return class_in(jvm(session), name)


@lru_cache(maxsize=256)
def class_in(java: JavaObject, name: str) -> JavaObject:
    """Return a class by its full name from the root of the JVM's packages."""
    result = java
    for part in name.split("."):
        result = getattr(result, part)
    return result


def companion(session: SparkSession, class_name: str) -> JavaObject:
    """Return the companion object of a Scala class below `org.apache.spark.sql`."""
    return _companion(jvm(session), class_name)


@lru_cache(maxsize=256)
def _companion(java: JavaObject, class_name: str) -> JavaObject:
    return getattr(class_in(java, f"org.apache.spark.sql.{class_name}$"), "MODULE$")


def some(session: SparkSession, value: object) -> JavaObject:
    """Return a Scala Option that holds `value`; None gives the empty one."""
    return java_class(session, "scala.Option").apply(value)


def value_of(option: JavaObject) -> JavaObject | None:
    """Return what a Scala Option holds, or None."""
    return option.get() if option.isDefined() else None


def java_causes(exception: JavaObject | None) -> Iterator[JavaObject]:
    """Yield an exception and its causes, the first ones of a chain without end; nothing for None."""
    for _ in range(_MOST_CAUSES):
        if exception is None:
            return
        yield exception
        exception = exception.getCause()


def items_of(sequence: JavaObject) -> list[JavaObject]:
    """Return the items of a Scala Seq, two round trips and one for each item."""
    return [sequence.apply(i) for i in range(sequence.size())]


def entries_of(mapping: JavaObject) -> dict[str, str]:
    """Return a Scala Map of strings in one round trip.

    `Map.mkString` writes `key -> value`; the control character between the entries is in no key or value that SQL can
    state.
    """
    return entries_in(mapping.mkString("\x01"))


def entries_in(text: str) -> dict[str, str]:
    """Return the entries of a Scala Map that was printed with control characters between them."""
    pairs = (entry.partition(" -> ") for entry in text.split("\x01") if entry)
    return {key: value for key, _, value in pairs}


def analyzed_plan(frame: DataFrame) -> JavaObject:
    """Return the plan of a DataFrame after Spark's analysis."""
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - no public name
