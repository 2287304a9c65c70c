"""Temporary views that are in a statement while Spark analyzes it: put into the session's catalog without a command of their own.

`DataFrame.createOrReplaceTempView` is a command, which Spark plans and reports to its listeners: some 10 ms of the JVM, as much as a small
query takes to be analyzed. What it leaves in the catalog is a view that holds an analyzed plan, and that can be put there directly.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject

_VIEW = "org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation"
#: What Spark says of the first such view of a session, and what holds for all: that the view is its plan.
_DESCRIBED: WeakKeyDictionary[SparkSession, JavaObject] = WeakKeyDictionary()


def put(session: SparkSession, name: str, frame: DataFrame) -> None:
    """Let a name mean the rows of a DataFrame, whatever it meant before."""
    catalog = jvm.session_catalog(session)
    if (with_comments := _DESCRIBED.get(session)) is None:
        frame.createOrReplaceTempView(name)
        _DESCRIBED[session] = catalog.getRawTempView(name).get().tableMeta()
        return
    is_replacing = True
    view = jvm.java_class(session, _VIEW)(with_comments, jvm.some(session, jvm.analyzed_plan(frame)))
    catalog.createTempView(name, view, is_replacing)


def drop(session: SparkSession, name: str) -> None:
    """Let a name mean nothing any more."""
    jvm.session_catalog(session).dropTempView(name)
