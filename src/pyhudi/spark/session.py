"""Making a Spark session speak Hudi: what `pyhudi.enable` does.

Spark's classes get pyhudi's methods once per process; they act only in sessions that were enabled
(`pyhudi.spark.enabled_sessions`). So other sessions, and other formats in an enabled one, run as if pyhudi were not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.conf import RuntimeConfig

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark import jar_classes
from pyhudi.spark.enabled_sessions import is_any_enabled, is_enabled, mark_disabled, mark_enabled, states_enabled
from pyhudi.spark.jvm import error_translation
from pyhudi.spark.jvm.patches import Hook, replace_method, restore_all
from pyhudi.spark.options.s3a_settings import s3a_settings
from pyhudi.spark.options.start_failures import naming_start_failures
from pyhudi.spark.options.start_settings import remove_from_session, settings_without_jar, stated_without_jar
from pyhudi.spark.pyspark_release import check_pyspark
from pyhudi.spark.reader import frame_reader
from pyhudi.spark.scan import count_hook, explain_hook
from pyhudi.spark.stopped_sessions import check_running
from pyhudi.spark.streaming import stream_reader_hooks, stream_writer_hooks
from pyhudi.spark.writer import frame_write, merge_into, writer_hooks, writer_v2
from pyhudi.storage.remote.hadoop_settings import use_settings_of

_CONNECT = (
    "pyhudi needs a classic Spark session, not a Spark Connect client, whose parser, catalog and planner live in a server."
    " Leave out remote(...) and SPARK_REMOTE, and start Spark in this process: SparkSession.builder.master('local[*]'). With Spark Connect,"
    " pyhudi.HudiTable works in this process: table.upsert(df) takes its DataFrames, spark.createDataFrame(table.to_arrow()) gives them."
)

#: Runs one statement: gets the session, the plain `SparkSession.sql` bound to it, and the arguments of the call.
SqlRunner: TypeAlias = Callable[..., DataFrame]
Target = TypeVar("Target", SparkSession, SparkSession.Builder)


def enable(target: Target, sql: SqlRunner) -> Target:
    """Make a session, or every session that a builder gives, speak Hudi; harmless when done before.

    Args:
        target: A `SparkSession`, or a `SparkSession.builder`.
        sql: What `session.sql` runs from now on.

    Raises:
        UnsupportedError: the session is, or the builder would give, a Spark Connect client; PySpark is too old.
        UsageError: `target` is neither session nor builder, or it was stopped.
    """
    check_pyspark("pyhudi.enable")
    if isinstance(target, SparkSession.Builder):
        _enable_builder(target, sql)
    elif isinstance(target, SparkSession):
        _enable_session(target, sql)
    elif type(target).__module__.startswith("pyspark.sql.connect."):
        raise UnsupportedError(_CONNECT)
    else:
        raise UsageError(f"pyhudi.enable takes a SparkSession or a SparkSession.builder, not {type(target).__name__}.")
    return target


def _enable_session(session: SparkSession, sql: SqlRunner) -> None:
    check_running(session)
    remove_from_session(session)
    _install(sql)
    mark_enabled(session)


def _enable_builder(builder: SparkSession.Builder, sql: SqlRunner) -> None:
    original = builder.getOrCreate

    def get_or_create() -> SparkSession:
        return start_enabled(builder, original, sql)

    builder.getOrCreate = get_or_create  # type: ignore[method-assign]


def start_enabled(builder: SparkSession.Builder, original: Callable[[], SparkSession], sql: SqlRunner) -> SparkSession:
    """Return what a builder gives by its `original` method, enabled, and started without the settings that ask for Apache Hudi's jar.

    Raises:
        UnsupportedError: the builder would give a Spark Connect client; PySpark is too old.
        UsageError: the JVM of Spark did not start.
    """
    check_pyspark("pyhudi.enable")
    if asks_for_connect(builder):
        raise UnsupportedError(_CONNECT)
    with settings_without_jar(builder._options), naming_start_failures():  # noqa: SLF001 - PySpark has no public name for them
        session = original()
    return enable(session, sql)


def asks_for_connect(builder: SparkSession.Builder) -> bool:
    """Tell whether a builder would give a Spark Connect client."""
    return "SPARK_REMOTE" in os.environ or "spark.remote" in builder._options  # noqa: SLF001 - said nowhere else


def disable(target: Target) -> Target:
    """Undo `enable` for a session, or for the sessions that a builder is going to give; with the last session, Spark's methods come back.

    Raises:
        UnsupportedError: the session is a Spark Connect client.
        UsageError: `target` is neither session nor builder.
    """
    if isinstance(target, SparkSession.Builder):
        vars(target).pop("getOrCreate", None)
        is_any_left = is_any_enabled()
    elif isinstance(target, SparkSession):
        is_any_left = mark_disabled(target)
    elif type(target).__module__.startswith("pyspark.sql.connect."):
        raise UnsupportedError(_CONNECT)
    else:
        raise UsageError(f"pyhudi.disable takes a SparkSession or a SparkSession.builder, not {type(target).__name__}.")
    if not is_any_left:
        restore_all()
        error_translation.uninstall()
        use_settings_of(None)
    return target


def _install(sql: SqlRunner) -> None:
    """Replace the methods of Spark's classes; a second call does nothing."""
    frame_reader.install(is_enabled)
    count_hook.install()
    explain_hook.install()
    writer_hooks.install(is_enabled)
    writer_v2.install(is_enabled)
    merge_into.install(is_enabled)
    stream_reader_hooks.install(is_enabled)
    stream_writer_hooks.install(is_enabled)
    frame_write.install()
    error_translation.install()
    jar_classes.install()
    use_settings_of(s3a_settings)
    replace_method(SparkSession, "sql", _sql_hook(sql))
    replace_method(SparkSession, "newSession", _new_session)
    replace_method(SparkSession.Builder, "getOrCreate", _get_or_create)
    replace_method(RuntimeConfig, "set", _set)


def _sql_hook(sql: SqlRunner) -> Hook:
    def hook(session: SparkSession, original: Hook, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:  # noqa: N803 - Spark's name
        if not is_enabled(session):
            return original(session, sqlQuery, args, **kwargs)

        def spark_sql(*arguments: Any, **frames: Any) -> Any:
            return original(session, *arguments, **frames)

        return sql(session, spark_sql, sqlQuery, args, **kwargs)

    return hook


def _new_session(session: SparkSession, original: Hook) -> SparkSession:
    """Make the sibling of an enabled session an enabled one."""
    new: SparkSession = original(session)
    if is_enabled(session):
        mark_enabled(new)
    return new


def _get_or_create(builder: SparkSession.Builder, original: Hook) -> SparkSession:
    """Let the session that takes the place of a stopped one be enabled before any other of its application is asked about."""
    with settings_without_jar(builder._options):  # noqa: SLF001
        session: SparkSession = original(builder)
    is_enabled(session)
    return session


def _set(settings: RuntimeConfig, original: Hook, key: str, value: Any) -> None:
    """Set a setting of a session; in an enabled one, without the classes of Apache Hudi, which every later statement would look for."""
    if isinstance(value, str) and states_enabled(settings):
        value = stated_without_jar(key, value)
    original(settings, key, value)
