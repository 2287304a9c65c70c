"""DROP TABLE, TRUNCATE TABLE and REFRESH TABLE.

DROP of a managed table deletes its data, of an external one only with PURGE (docs/sql.md). TRUNCATE is a
commit that replaces every file group: readers of the table keep a consistent view, and time travel still shows the
rows until they are cleaned.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.relation_cache import forget, forget_cached, refresh
from pyhudi.spec.actions.commit import Operation
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write.write_target import open_target
from pyhudi.storage.open_storage import open_storage
from pyhudi.table.remove_rename import delete_table


def drop_table(statement: Statement) -> DataFrame | None:
    """Run a DROP TABLE on a Hudi table; None when the name is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    forget_cached(statement.session, entry)
    catalog_table.unregister(statement.session, entry)
    if entry.managed or statement.plan.purge():
        delete_table(open_storage(entry.location))
    return statement.empty()


def truncate_table(statement: Statement) -> DataFrame | None:
    """Run a TRUNCATE TABLE on a Hudi table; None when the name is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    refresh(statement.session, entry)
    no_rows = statement.session.table(entry.quoted_name).limit(0)
    target = open_target(statement, entry)
    target.write(Operation.INSERT_OVERWRITE_TABLE, no_rows.select(*(f"`{name}`" for name in target.columns)))
    return statement.empty()


def refresh_table(statement: Statement) -> DataFrame | None:
    """Look at a table again: REFRESH TABLE, MSCK REPAIR TABLE, ALTER TABLE ... RECOVER PARTITIONS; None when it is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    forget(statement.session, entry)
    refresh(statement.session, entry)
    return statement.empty()
