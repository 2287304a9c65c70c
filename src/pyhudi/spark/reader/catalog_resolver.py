"""Answers the JVM's question what a Hudi table is now: Python's part of the analyzer's rule (`java/hudi/DefaultSource.java`).

The rule asks whenever Spark's analyzer meets a Hudi table, whoever named it: SQL, an expression of a DataFrame, a view, the Thrift server,
code in the JVM. Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from pyspark import RDD, SparkContext
from pyspark.sql import SparkSession

from pyhudi.cache import LruCache
from pyhudi.errors import HudiError, TableNotFound
from pyhudi.spark.catalog.catalog_table import SESSION_CATALOG, find
from pyhudi.spark.catalog.relation_cache import current_plan
from pyhudi.spark.jvm import java_code, jvm
from pyhudi.spark.jvm.error_translation import encode_error_text, propagate_errors
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.options.read_request import ReadRequest
from pyhudi.spark.reader.frame_reader import read_with

_QUERY_TYPE = "hoodie.datasource.query.type"
_MOST_DISABLED = 10_000
_MOST_SESSIONS = 64  # of the JVM's own making that are remembered, such as one for each connection of a Thrift server

#: Sessions that Python has, and those that it made for sessions of the JVM; by the id that the JVM knows them by.
_OURS: WeakValueDictionary[str, SparkSession] = WeakValueDictionary()
_THEIRS: LruCache[str, SparkSession] = LruCache(_MOST_SESSIONS)


class TableResolver:
    """Implements the interface of the Java class; its method gives a plan, or the text of an error."""

    class Java:
        """Where py4j looks for what a Python object implements."""

        implements = (f"{java_code.SOURCE}$Resolver",)

    @propagate_errors
    def plan(self, session: str, database: str, table: str, options: str) -> JavaObject:
        """Return the plan of a table's current snapshot, or why there is none.

        Args:
            session: The id of the session that asks.
            database: The table's database in the session's catalog; empty when it is named by its path.
            table: Its name, or its path.
            options: The options of the query.
        """
        if _DISABLED.get(session):
            return _REFUSAL
        try:
            return _plan(session, database, table, options)
        except HudiError as error:
            return encode_error_text(error)


_RESOLVER = TableResolver()

#: Sessions that were disabled, in whose analyzer the rule stays.
_DISABLED: LruCache[str, bool] = LruCache(_MOST_DISABLED)
_REFUSAL = (
    "This Spark session does not speak Hudi any more, so it cannot read the table: pyhudi.disable was called for it. Call"
    " pyhudi.enable(session) to read and write Hudi tables again."
)


def install(session: SparkSession) -> None:
    """Let the JVM ask for the Hudi tables of a session, and of all that Spark makes from it; harmless when done before."""
    java_code.install(session, _RESOLVER)
    identity = str(jvm.jvm_session(session).sessionUUID())
    _DISABLED.pop(identity)
    _OURS[identity] = session


def uninstall(session: SparkSession) -> None:
    """Refuse the Hudi tables of a session by name from now on."""
    identity = str(jvm.jvm_session(session).sessionUUID())
    _DISABLED.put(identity, True)
    _OURS.pop(identity, None)
    _THEIRS.pop(identity)


def _plan(identity: str, database: str, name: str, options: str) -> JavaObject:
    session = _session(identity)
    stated = jvm.entries_in(options)
    if not database:
        return jvm.analyzed_plan(read_with(session, name, ReadRequest(options=stated)))
    table = find(session, (SESSION_CATALOG, database, name))
    if table is None:
        raise TableNotFound(f"{database}.{name} is no Hudi table of the session's catalog any more.")
    if stated:
        if table.is_read_optimized:
            stated = {_QUERY_TYPE: "read_optimized", **stated}
        return jvm.analyzed_plan(read_with(session, table.location, ReadRequest(options=stated), table.partition_columns))
    return current_plan(session, table)


def _session(identity: str) -> SparkSession:
    result = _OURS.get(identity) or _THEIRS.get(identity)
    if result is None:
        result = _make_relation(identity)
        _THEIRS.put(identity, result)
    return result


def _make_relation(identity: str) -> SparkSession:
    """Return a Python session for one that the JVM made."""
    context = SparkContext._active_spark_context  # noqa: SLF001 - no public name
    assert context is not None, "a session asks"
    to_frame = RDD.toDF  # a session that is made becomes the one to which `rdd.toDF()` belongs
    try:
        return SparkSession(context, java_code.source_of(context).session(identity))
    finally:
        RDD.toDF = to_frame  # type: ignore[method-assign]
