"""The indexes that a table has. Rules: `SHOW INDEXES` of Hudi's SQL reference: every partition of the metadata table but `files`."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, FILES
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class ListedIndex:
    """An index: the name of its partition of the metadata table, its type, and what it is of.

    `columns` is empty for those that are of all columns or of none; `function` is that of an expression.
    """

    name: str
    type: str
    columns: tuple[str, ...]
    function: str


def list_indexes(storage: Storage, config: TableConfig) -> tuple[ListedIndex, ...]:
    """Return the indexes of a table by name.

    Raises:
        CorruptTableError: the file of their definitions is damaged.
    """
    definitions = load_definitions(storage, config)
    listed = []
    for name in sorted(set(config.metadata_partitions) - {FILES}):
        definition = definitions.get(name)
        if definition is None or name == COLUMN_STATS:
            listed.append(ListedIndex(name, name, (), ""))
        else:
            listed.append(ListedIndex(name, definition.type, definition.source_fields, definition.function))
    return tuple(listed)
