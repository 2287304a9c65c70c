"""The metadata table as indexes ask it: only while it knows of every write."""

from __future__ import annotations

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.index_protocol import LookupContext
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.metadata_view import MetadataView


def usable_metadata_table(lookup: LookupContext, partition: str) -> MetadataTable:
    """Return the metadata table, the one that the table's files are found by if there is such; it has the partition.

    Raises:
        UnsupportedError: the table has no such partition, or one that may not be read.
        CorruptTableError: the metadata table is damaged, or does not know of all writes.
    """
    view = lookup.view
    if partition not in view.config.metadata_partitions:
        raise UnsupportedError("it has none (hoodie.table.metadata.partitions)")
    table = view.table if isinstance(view, MetadataView) else None
    if table is None:
        table = MetadataTable.open(lookup.storage, view.config, view.timeline)
    if missing := table.missing_instants:
        raise CorruptTableError(f"the metadata table does not know of {len(missing)} writes, the first is {missing[0]}")
    return table
