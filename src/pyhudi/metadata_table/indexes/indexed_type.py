"""The type of an indexed column: it is not widened to one whose values the index would not find in files written before.

Rule: `HoodieTable.validateSecondaryIndexSchemaEvolution`, which refuses any change; here changes that keep all values as the index has them
are allowed.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.field_paths import type_at
from pyhudi.timeline.instant_details import read_commit


def check_indexed_type(table: DataTable, field: str, index: str, is_same: Callable[[pa.DataType, pa.DataType], bool]) -> None:
    """Refuse a commit that gives an indexed column a type in which its values are others to the index.

    Args:
        table: the data table with the schema of the commit.
        field: the dotted name of the column.
        index: the partition of the metadata table, for the message.
        is_same: tells of the old and the new type whether entries of the index remain true.

    Raises:
        UnsupportedError: names column, types and index.
    """
    view = table.view
    last = view.timeline.last_completed()
    recorded = None if last is None else read_commit(view.storage, view.config, last).schema_json
    old = type_at(avro_to_arrow(recorded), field) if recorded else None
    new = type_at(table.context.schema, field)
    if old is not None and new is not None and not is_same(old, new):
        raise UnsupportedError(
            f"column '{field}' of table {view.storage.uri} would become {new}, it is {old}, and the index {index} holds values of the old"
            " type; drop the index first, and create it again afterwards"
        )
