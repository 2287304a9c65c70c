"""`pyhudi.enable`: a Spark session, or the builder of one, learns to speak Hudi."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Final, TypeVar

from pyspark import SparkContext
from pyspark.sql import SparkSession

from pyhudi.spark import session
from pyhudi.spark.catalog import catalog_functions
from pyhudi.spark.enabled_sessions import is_enabled
from pyhudi.spark.options.start_settings import conf_without_jar, runs_java
from pyhudi.sql import dispatch

Target = TypeVar("Target", SparkSession, SparkSession.Builder)
#: The positional arguments of a session with which PySpark gives that of the JVM.
_OF_THE_JVM: Final = 2


def enable(target: Target) -> Target:
    """Make a session, or every session that a builder gives, speak Hudi; harmless when done before.

    Args:
        target: A `SparkSession`, or a `SparkSession.builder`.

    Returns:
        What was given.

    Raises:
        UnsupportedError: the session is, or the builder would give, a Spark Connect client.
        UsageError: `target` is neither session nor builder.

    Example:
        >>> spark = pyhudi.enable(SparkSession.builder.master("local[*]")).getOrCreate()
        >>> _ = spark.sql(f"CREATE TABLE t (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{folder}/t'")
        >>> _ = spark.sql("INSERT INTO t VALUES (1), (2)")
        >>> spark.table("t").count()
        2
        >>> _ = spark.sql("DROP TABLE t")
    """
    catalog_functions.install(is_enabled)
    return session.enable(target, dispatch.run)


def build_session(original: Callable[[SparkSession.Builder], SparkSession], builder: SparkSession.Builder) -> SparkSession:
    """Return what a builder gives by its method `original`, enabled; a Spark Connect client as it is."""
    if session.asks_for_connect(builder):
        return original(builder)
    catalog_functions.install(is_enabled)
    return session.start_enabled(builder, lambda: original(builder), dispatch.run)


def construct_session(original: Callable[..., None], target: SparkSession, *arguments: Any, **named: Any) -> None:
    """Construct a session of a context by its method `original`, and enable it. PySpark gives the JVM's session with each further object of
    one that exists.
    """
    original(target, *arguments, **named)
    if len(arguments) < _OF_THE_JVM and named.get("jsparkSession") is None:
        enable(target)


def construct_context(original: Callable[..., None], context: SparkContext, *arguments: Any, **named: Any) -> None:
    """Construct a context by its method `original`, without the settings that ask for Apache Hudi's jar."""
    call = signature(original).bind(context, *arguments, **named)
    with conf_without_jar(call.arguments.get("conf")) as call.arguments["conf"]:
        original(*call.args, **call.kwargs)


def start_java(original: Callable[..., None], *arguments: Any, **named: Any) -> None:
    """Start the JVM of this process by PySpark's method `original`, unless it runs, without the settings that ask for Apache Hudi's jar.

    The `pyspark` shell starts it before there is a session.
    """
    call = signature(original).bind(*arguments, **named)
    if runs_java():
        original(*call.args, **call.kwargs)
        return
    with conf_without_jar(call.arguments.get("conf")) as call.arguments["conf"]:
        original(*call.args, **call.kwargs)


def disable(target: Target) -> Target:
    """Undo `enable`: the session is as if pyhudi were not there; harmless when it was not enabled, and `enable` works again afterwards.

    As soon as no enabled session is left, PySpark's classes have their own methods again. Names of Hudi tables are refused in the session
    by an error that says so. Stop streams that read or write Hudi tables before.

    Args:
        target: A `SparkSession`, or a `SparkSession.builder` whose later sessions stay disabled.

    Returns:
        What was given.

    Raises:
        UnsupportedError: the session is a Spark Connect client.
        UsageError: `target` is neither session nor builder.

    Example:
        >>> pyhudi.disable(spark).sql("SELECT 1").first()
        Row(1=1)
        >>> spark = pyhudi.enable(spark)
    """
    return session.disable(target)
