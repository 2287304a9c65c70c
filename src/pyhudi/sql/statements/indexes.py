"""CREATE INDEX, DROP INDEX and SHOW INDEXES.

Rules: Hudi's SQL reference. `CREATE INDEX n ON t (column)` makes a secondary index, `CREATE INDEX record_index ON t (keys)` that of the
record keys, `... USING column_stats(column) OPTIONS(expr='...')` and `... USING bloom_filters(...)` one of an expression. No lock
provider is asked for, and IF NOT EXISTS does nothing when the index is there (observed-1.2.0.md, "DDL, indexes").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from pyhudi.service.indexes import Indexing, IndexRequest, list_indexes
from pyhudi.spark import catalog_table, jvm
from pyhudi.spark.catalog_table import CatalogTable
from pyhudi.spark.relation_cache import refresh
from pyhudi.spec.options import resolve
from pyhudi.spec.table_config import TableConfig
from pyhudi.sql.settings import write_options
from pyhudi.sql.statement import PlainSql, Statement
from pyhudi.sql.tokens import name_at, text_literal, tokenize
from pyhudi.storage.open import open_storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds

_SHOW = re.compile(r"\s*SHOW\s+INDEXES\s+(FROM|IN)\s+\S", re.IGNORECASE)
_LOCK_WAIT = "hoodie.write.lock.wait_time_ms"


def create(statement: Statement) -> DataFrame | None:
    """Run a CREATE INDEX on a Hudi table; None when the table is another's."""
    plan = statement.plan
    request = IndexRequest(
        name=str(plan.indexName()),
        columns=tuple(".".join(jvm.items_of(column._1().name())) for column in jvm.items_of(plan.columns())),  # noqa: SLF001 - a Scala pair
        using=str(plan.indexType()) or None,
        options=jvm.entries_of(plan.properties()),
        zone=str(statement.session.conf.get("spark.sql.session.timeZone")),
    )
    return _run(
        statement,
        lambda entry, wait_s: _indexing(entry, wait_s).create(request, if_not_exists=bool(plan.ignoreIfExists())),
    )


def drop(statement: Statement) -> DataFrame | None:
    """Run a DROP INDEX on a Hudi table; None when the table is another's."""
    plan = statement.plan
    name, if_exists = str(plan.indexName()), bool(plan.ignoreIfNotExists())
    return _run(
        statement,
        lambda entry, wait_s: _indexing(entry, wait_s).drop(name, if_exists=if_exists),
    )


def _indexing(entry: CatalogTable, wait_s: float) -> Indexing:
    return Indexing(open_storage(entry.location), SystemClock(), SystemIds(), wait_s)


def show(session: SparkSession, plain: PlainSql, text: str) -> DataFrame | None:
    """Run a SHOW INDEXES on a Hudi table, which Spark's parser refuses; None for any other text, and for another's table."""
    if not _SHOW.match(text):
        return None
    entry = catalog_table.find(session, name_at(tokenize(text), 3))
    if entry is None:
        return None
    storage = open_storage(entry.location)
    rows = [(index.name, index.type, ",".join(index.columns)) for index in list_indexes(storage, TableConfig(load_properties(storage)))]
    listed = ", ".join(f"({', '.join(map(text_literal, row))})" for row in rows)
    names = "index_name, index_type, col_name"
    if not rows:
        return plain(f"SELECT {', '.join(f'CAST(NULL AS STRING) AS {name}' for name in names.split(', '))} WHERE false")
    return plain(f"SELECT * FROM VALUES {listed} AS t({names})")  # noqa: S608 - literals only


def _run(statement: Statement, change: Callable[[CatalogTable, float], object]) -> DataFrame | None:
    entry = statement.hudi_table()
    if entry is None:
        return None
    options = resolve(write_options(statement.session, entry))
    change(entry, options.integer(_LOCK_WAIT) / 1000)
    refresh(statement.session, entry)
    return statement.empty()
