"""What a session caches by name (CACHE TABLE of a table or of a view) continues with the Hudi tables behind it.

Spark finds cached rows by the plan that made them. After a commit a table's plan is another, so its entry would never be found
again, nor its memory be freed. As Spark's own writes do it for Spark's tables, the entry is recreated from what the name stands for
now, and filled when it is next read. A DataFrame stays with its snapshot, cached or not, so what was cached without a name stays.
Source of the rule: `CacheManager.recacheByPlan`, which Spark calls after writes.
"""

from __future__ import annotations

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject


def any_cached(session: SparkSession) -> bool:
    """Tell whether anything is cached at all: in most sessions nothing is, and nobody need ask further."""
    return not jvm.cache_manager(session).isEmpty()


def follow(session: SparkSession, files: str) -> None:
    """Cache again what is cached by name over some table's files and no longer what the name stands for.

    Args:
        session: Where the names are resolved; temporary views of other sessions are left to these.
        files: How the text of the table's file indexes begins.
    """
    for entry in _entries(session):
        builder = entry.cachedRepresentation().cacheBuilder()
        if builder.tableName().isEmpty() or not _reads(entry.plan(), files):
            continue
        current = _named(session, entry.plan())
        if current is None:
            continue
        plan = current.queryExecution().analyzed()
        if plan.sameResult(entry.plan()):
            continue
        is_cascading = False
        manager = jvm.cache_manager(session)
        manager.uncacheQuery(jvm.jvm_session(session), entry.plan(), is_cascading)
        manager.cacheQuery(current, builder.tableName(), builder.storageLevel())


def dropped(session: SparkSession, name: str) -> JavaObject | None:
    """Forget the rows that are cached of a table and of what reads it; returns the storage level of its own rows, None if it has none.

    Args:
        session: A session whose analyzer resolves the table.
        name: The table's quoted name.
    """
    manager, table = jvm.cache_manager(session), jvm.jvm_session(session).table(name)
    cached = jvm.value_of(manager.lookupCachedData(table))
    is_cascading = True
    manager.uncacheQuery(table, is_cascading)
    return None if cached is None else cached.cachedRepresentation().cacheBuilder().storageLevel()


def cache(session: SparkSession, name: str, level: JavaObject) -> None:
    """Cache a table by its quoted name with a storage level of Spark's, lazily."""
    jvm.cache_manager(session).cacheQuery(jvm.jvm_session(session).table(name), jvm.some(session, name), level)


def _entries(session: SparkSession) -> list[JavaObject]:
    """Return all that is cached; Spark's class looks it up by plan only, so its field is read."""
    manager = jvm.cache_manager(session)
    field = manager.getClass().getDeclaredField("cachedData")
    field.setAccessible(True)
    return jvm.items_of(field.get(manager))


def _reads(plan: JavaObject, files: str) -> bool:
    """Tell whether a file index whose text begins so is in a plan."""
    relations = (leaf for leaf in jvm.items_of(plan.collectLeaves()) if leaf.getClass().getSimpleName() == "LogicalRelation")
    scans = (leaf.relation() for leaf in relations)
    return any(scan.location().toString().startswith(files) for scan in scans if scan.getClass().getSimpleName() == "HadoopFsRelation")


def _named(session: SparkSession, plan: JavaObject) -> JavaObject | None:
    """Return the JVM's DataFrame of the table or view at the top of a plan; None when this session does not know it."""
    if plan.nodeName() != "SubqueryAlias":
        return None
    identifier = plan.identifier()
    parts = [*jvm.items_of(identifier.qualifier()), identifier.name()]
    try:
        return jvm.jvm_session(session).table(".".join("`" + part.replace("`", "``") + "`" for part in parts))
    except (Py4JError, PySparkException):
        return None
