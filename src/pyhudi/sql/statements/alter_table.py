"""ALTER TABLE on a table as a whole: RENAME TO, SET and UNSET TBLPROPERTIES.

Properties of the catalog's entry are options of later writes; what a table was created with (its type, keys, partitions, ordering
fields) is in `hoodie.properties` and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame

from pyhudi.errors import OptionError, TableExists, UnsupportedError, UsageError
from pyhudi.spark.catalog import cached_tables, catalog_table
from pyhudi.spark.catalog.relation_cache import forget_cached, refresh
from pyhudi.spark.jvm import jvm
from pyhudi.spec import options as spec_options
from pyhudi.spec.config.config_keys import concerns_table, find_key
from pyhudi.sql.query import query
from pyhudi.sql.statement.sql_settings import stated_options
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write.table_definition import is_option
from pyhudi.sql.write.write_target import WriteTarget, open_target
from pyhudi.table.remove_rename import rename_table
from pyhudi.write.options.concurrency_options import check_concurrency, concern_concurrency
from pyhudi.write.options.validate_options import check_agreement


def rename(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE ... RENAME TO; None when the table is not a Hudi table. The table's own properties get the new name, too."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    session = statement.session
    new = tuple(jvm.items_of(statement.plan.newName()))
    if len(new) == 1:
        new = (entry.database, new[0])
    database, name = new[-2:]
    if database.lower() != entry.database.lower() or (len(new) > 2 and not catalog_table.is_session_catalog(session, new[0])):
        raise UsageError(f"ALTER TABLE {entry.qualified_name} RENAME TO {'.'.join(new)}: a table stays in its database.")
    if catalog_table.raw_entry(session, database, name) is not None:
        raise TableExists(f"ALTER TABLE {entry.qualified_name} RENAME TO {name}: {database}.{name} exists already.")
    target = open_target(statement, entry)
    level = forget_cached(session, entry)
    catalog_table.rename(session, entry, name)
    renamed = catalog_table.find(session, (catalog_table.SESSION_CATALOG, database, name))
    assert renamed is not None, "the entry was just renamed"
    rename_table(open_target(statement, renamed).table if entry.managed else target.table, name)
    refresh(session, renamed)
    if level is not None:
        cached_tables.cache(session, renamed.quoted_name, level)
    return statement.empty()


def set_properties(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE ... SET TBLPROPERTIES; None when the table is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    target = open_target(statement, entry)
    stated = jvm.entries_of(statement.plan.properties())
    _check_settable(target, stated)
    return query.run(statement)


def set_serde_properties(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE ... SET SERDEPROPERTIES, which are properties of the table like all others; None when it is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    plan = statement.plan
    stated = jvm.value_of(plan.serdeProperties())
    if stated is None or jvm.value_of(plan.serdeClassName()) is not None or jvm.value_of(plan.partitionSpec()) is not None:
        raise UnsupportedError(
            f"ALTER TABLE {entry.qualified_name} SET SERDE is not served; SET SERDEPROPERTIES (...) of the whole table is."
        )
    _check_settable(open_target(statement, entry), jvm.entries_of(stated))
    return query.run(statement)


def unset_properties(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE ... UNSET TBLPROPERTIES; None when the table is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    _check_unsettable(entry.qualified_name, jvm.items_of(statement.plan.propertyKeys()))
    return query.run(statement)


def _check_settable(target: WriteTarget, stated: Mapping[str, str]) -> None:
    """Refuse properties that are none, or that contradict what the table is.

    Raises:
        OptionError: the property is unknown, or the table has another value that cannot change.
        UnsupportedError: the property asks for what is not served.
    """
    options = {key: value for key, value in stated.items() if is_option(key)}
    resolved = spec_options.resolve(options)
    check_agreement(resolved, target.table.config)
    known = {find_key(name): name for name in target.entry.properties}
    for name in stated:
        if concerns_table(name) and find_key(name) not in known and name not in target.table.config.properties:
            agrees = resolved.get(name) is not None and _is_stored(target, name)
            if not agrees:
                raise UnsupportedError(
                    f"ALTER TABLE {target.name}: {name} is part of what the table was created with; it cannot be set afterwards."
                )
    if concern_concurrency(stated):
        properties = spec_options.merge_options(target.entry.properties, stated)
        check_concurrency(stated_options(target.statement.session, properties), target.table.storage, target.table.config)


def _is_stored(target: WriteTarget, name: str) -> bool:
    """Tell whether `check_agreement` has held the option against the table's properties."""
    key = find_key(name)
    return key is not None and any(alias in target.table.config.properties for alias in (key.name, *key.aliases))


def _check_unsettable(table: str, names: Iterable[str]) -> None:
    for name in names:
        if is_option(name) and concerns_table(name):
            raise OptionError(f"ALTER TABLE {table}: {name} is part of what the table was created with; it cannot be unset.")
