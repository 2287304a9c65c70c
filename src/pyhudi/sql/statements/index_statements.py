"""CREATE INDEX, DROP INDEX, SHOW INDEXES and REFRESH INDEX.

Rules: Hudi's SQL reference. `CREATE INDEX n ON t (column)` makes a secondary index, `CREATE INDEX record_index ON t (keys)` that of the
record keys, `... USING column_stats(column) OPTIONS(expr='...')` and `... USING bloom_filters(...)` one of an expression. A lock
provider is taken where options name one, and IF NOT EXISTS does nothing when the index is there (docs/differences.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.locks.choose_lock import open_table_storage, options_of_lock
from pyhudi.metadata_table.format.metadata_partitions import PARTITION_STATS
from pyhudi.service.indexes import Indexing, IndexRequest, ListedIndex, list_indexes, partition_of
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import refresh
from pyhudi.spark.jvm import jvm
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.sql.statement.sql_settings import write_options
from pyhudi.sql.statement.statement import SparkSql, Statement
from pyhudi.sql.text.tokens import name_at, quote, scan, text_literal, tokenize
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds
from pyhudi.write.options.non_blocking import check_mode

#: Up to the table's name, which may be `table`.
_SHOW = re.compile(r"\s*SHOW\s+INDEXES\s+(?:FROM|IN)\s+(?:TABLE\s+(?=[^\s;]))?", re.IGNORECASE)
_REFRESH = re.compile(r"\s*REFRESH\s+INDEX\s+(?P<name>\w+|`[^`]+`)\s+ON\s+(?:TABLE\s+(?=[^\s;]))?", re.IGNORECASE)
_METADATA_TABLE = "hoodie.metadata.enable"
_LOCK_WAIT = "hoodie.write.lock.wait_time_ms"


def create(statement: Statement) -> DataFrame | None:
    """Run a CREATE INDEX on a Hudi table; None when the table is not a Hudi table."""
    plan = statement.plan
    request = IndexRequest(
        name=str(plan.indexName()),
        columns=tuple(".".join(jvm.items_of(column._1().name())) for column in jvm.items_of(plan.columns())),  # noqa: SLF001 - a Scala pair
        using=str(plan.indexType()) or None,
        options=jvm.entries_of(plan.properties()),
        zone=str(statement.session.conf.get("spark.sql.session.timeZone")),
    )
    if unknown := next((options for column in jvm.items_of(plan.columns()) if (options := jvm.entries_of(column._2()))), None):  # noqa: SLF001
        raise UsageError(f"index '{request.name}': options follow all columns, not one of them: OPTIONS ({', '.join(unknown)} = ...)")

    def build(entry: CatalogTable, options: Options) -> None:
        if not options.flag(_METADATA_TABLE):
            raise UsageError(f"{_METADATA_TABLE} is false: the next write would delete index '{request.name}'; set it to true first")
        _indexing(entry, options).create(request, if_not_exists=bool(plan.ignoreIfExists()))

    return _run(statement, build)


def drop(statement: Statement) -> DataFrame | None:
    """Run a DROP INDEX on a Hudi table; None when the table is not a Hudi table.

    `partition_stats` need not exist: they were dropped together with `column_stats`, which scripts for Apache Hudi drop before them.
    """
    plan = statement.plan
    name = str(plan.indexName())
    if_exists = bool(plan.ignoreIfNotExists()) or name == PARTITION_STATS
    return _run(statement, lambda entry, options: _indexing(entry, options).drop(name, if_exists=if_exists))


def _indexing(entry: CatalogTable, options: Options) -> Indexing:
    storage = open_table_storage(entry.location, options_of_lock(options))
    check_mode(options, TableConfig(load_properties(storage)))
    return Indexing(storage, SystemClock(), SystemIds(), options.integer(_LOCK_WAIT) / 1000)


def show_or_refresh(session: SparkSession, spark_sql: SparkSql, text: str) -> DataFrame | None:
    """Run a SHOW INDEXES or REFRESH INDEX, which Spark's parser refuses; None for any other text.

    Raises:
        UnsupportedError: the table is no Hudi table.
        UsageError: the table does not have the index to refresh.
        pyspark.errors.AnalysisException: Spark's own, of a table that does not exist.
    """
    start = _start(text)
    for pattern, answer in ((_SHOW, _show), (_REFRESH, _refresh)):
        if match := pattern.match(text, start):
            tokens = [token for token in tokenize(text[match.end() :]) if token.text != ";"]
            name = name_at(tokens, 0) if tokens else ()
            if not name or len(tokens) != 2 * len(name) - 1:
                return None
            known = list_indexes(*_open_table(session, spark_sql, name))
            return answer(spark_sql, known, match)
    return None


def _start(text: str) -> int:
    """Return where the first word of a statement is, after the comments before it."""
    try:
        return next(scan(text), (0, 0))[0]
    except UsageError:  # a string or comment without end, which Spark's parser refuses
        return 0


def _open_table(session: SparkSession, spark_sql: SparkSql, name: tuple[str, ...]) -> tuple[Storage, TableConfig]:
    entry = catalog_table.at_path(name[1]) if catalog_table.is_path(name) else catalog_table.find(session, name)
    if entry is None:
        quoted = ".".join(map(quote, name))
        spark_sql(f"SELECT * FROM {quoted} LIMIT 0")  # noqa: S608 - a quoted name; Spark says when it is not there
        raise UnsupportedError(f"{quoted} is no Hudi table: it has no indexes")
    storage = open_storage(entry.location)
    return storage, TableConfig(load_properties(storage))


def _show(spark_sql: SparkSql, known: Sequence[ListedIndex], _: re.Match[str]) -> DataFrame:
    listed = ", ".join(f"({', '.join(map(text_literal, (index.name, index.type, ','.join(index.columns))))})" for index in known)
    names = "index_name, index_type, col_name"
    if not known:
        return spark_sql(f"SELECT {', '.join(f'CAST(NULL AS STRING) AS {name}' for name in names.split(', '))} WHERE false")
    return spark_sql(f"SELECT * FROM VALUES {listed} AS t({names})")  # noqa: S608 - literals only


def _refresh(spark_sql: SparkSql, known: Sequence[ListedIndex], match: re.Match[str]) -> DataFrame:
    """Do nothing, as Apache Hudi: each commit refreshes all indexes."""
    partition_of(match["name"].strip("`"), [index.name for index in known])  # or it says that there is none
    return spark_sql("SELECT 1 WHERE false").drop("1")


def _run(statement: Statement, change: Callable[[CatalogTable, Options], object]) -> DataFrame | None:
    entry = statement.hudi_table()
    if entry is None:
        return None
    change(entry, resolve(write_options(statement.session, entry)))
    refresh(statement.session, entry)
    return statement.empty()
