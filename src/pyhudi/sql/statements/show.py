"""SHOW PARTITIONS and SHOW TBLPROPERTIES: what the table itself says, of which the session catalog holds nothing or a part."""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.errors import UsageError, with_subject
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm import jvm
from pyhudi.spec.files import partition_path
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import text_literal
from pyhudi.sql.write.new_definition import properties_of
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.table_properties import load_properties


def show_partitions(statement: Statement) -> DataFrame | None:
    """Run a SHOW PARTITIONS on a Hudi table; None when the name is not a Hudi table.

    Slash-separated dates are shown as `column=yyyy-MM-dd`, all others by their paths.
    """
    entry = statement.hudi_table()
    if entry is None:
        return None
    snapshot = open_snapshot(open_storage(entry.location), SnapshotQuery())
    config = snapshot.config
    fields = config.partition_fields
    if not fields:
        raise UsageError(f"SHOW PARTITIONS: {entry.qualified_name} is not partitioned.")
    spec = _partition_spec(statement)
    if unknown := [column for column in spec if column not in {field.lower() for field in fields}]:
        problem = f"SHOW PARTITIONS: {unknown[0]} is no partition column of {entry.qualified_name}; those are {', '.join(fields)}."
        raise with_subject(UsageError(problem), unknown[0])
    rows = []
    for path in snapshot.live_partitions:
        values = config.partition_values(path)
        if all(spec.get(field.lower(), value) == value for field, value in zip(fields, values, strict=True)):
            path_text = partition_path.build(fields, values, hive_style=True, url_encode=False) if config.slash_dates else path
            rows.append([text_literal(path_text)])
    return statement.rows(["partition"], sorted(rows)) if rows else statement.spark_sql("SELECT '' AS partition WHERE false")


def show_properties(statement: Statement) -> DataFrame | None:
    """Run a SHOW TBLPROPERTIES on a Hudi table, also one that is named by its path; None when the name is not a Hudi table.

    Type, keys, ordering fields and version are those that the table has, whether its entry in the catalog states them or not, and under
    their names of SQL, next to another name by which the entry states them.
    """
    entry = statement.hudi_table()
    if entry is None:
        return None
    config = TableConfig(load_properties(open_storage(entry.location)))
    of_table = {**properties_of(config), "hoodie.table.version": str(config.version)}
    key = jvm.value_of(statement.plan.propertyKey())
    if key is not None:
        if key not in of_table:
            return None  # Spark's own answer
        return statement.rows(["key", "value"], [[text_literal(key), text_literal(entry.properties.get(key, of_table[key]))]])
    stated = {} if catalog_table.is_path((entry.database, entry.name.strip("`"))) else _stated(statement)
    listed = sorted({**of_table, **stated}.items())
    return statement.rows(["key", "value"], [[text_literal(key), text_literal(value)] for key, value in listed])


def _stated(statement: Statement) -> dict[str, str]:
    return {row[0]: row[1] for row in statement.run_sql(statement.text).collect()}


def _partition_spec(statement: Statement) -> dict[str, str]:
    spec = jvm.value_of(statement.plan.pattern())
    return {} if spec is None else {key.lower(): value for key, value in jvm.entries_of(spec.spec()).items()}
