"""Updates that bring only the columns they change, in partial blocks of log files.

Rules: `hoodie.spark.sql.merge.into.partial.updates`, `HoodieAppendHandle`; docs/format/merging.md#partial-updates. A partial row holds the
meta columns, the record key, partition and ordering fields, and what changes; a reader takes the rest from the record as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.schema.meta_columns import IS_DELETED
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion

_OPTION = "hoodie.spark.sql.merge.into.partial.updates"


def partial_columns(options: Mapping[str, str], config: TableConfig, schema: pa.Schema, changed: Iterable[str]) -> tuple[str, ...] | None:
    """Return the data columns that updates of `changed` have to bring, in the table's order; None when that is all of them.

    Only merge-on-read tables take partial rows, since version 8, and only where the option allows them. Columns that may not be null are
    left out like others: the record has them. Rows that change an ordering field are whole: Apache Hudi mixes the columns of a late
    partial row into the newer record.
    """
    if not config.is_merge_on_read or config.version < TableVersion.EIGHT or not resolve(options).flag(_OPTION):
        return None
    # Readers of Apache Hudi match partial rows by name, and fail on partial rows of tables with the column for deletes.
    if history_of(schema) is not None or IS_DELETED in schema.names:
        return None
    always = (*config.record_key_fields, *config.partition_fields, *config.ordering_fields)
    stated = {name.lower() for name in changed}
    if not stated.isdisjoint(name.lower() for name in head_columns(config.ordering_fields)):
        return None
    names = stated | {name.lower() for name in head_columns(always)}
    columns = tuple(field.name for field in schema if field.name.lower() in names)
    return columns if len(columns) < len(schema) else None
