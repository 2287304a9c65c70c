"""Partitions of the metadata table that nothing names any more, though their folders stand.

Their names were taken out of the table's properties, and no writer updates them: were they named again, readers would
believe them. A build of theirs begins again, so that nothing is lost.
"""

from __future__ import annotations

import logging

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.index_kinds import kind_of
from pyhudi.metadata_table.write.inflight import pending_builds, planned_partitions

_log = logging.getLogger(__name__)


def delete_forgotten(table: DataTable) -> None:
    """Delete the folders of partitions that neither the table's properties name nor a pending build.

    They are looked for only where an index is defined that is not named: a write reads the definitions anyway. The definitions stay, since
    Apache Hudi builds by them what it was told to drop with the whole metadata table.

    Raises:
        StorageError: the storage failed.
    """
    config, storage = table.view.config, table.mdt.storage
    named = {*config.metadata_partitions, *config.metadata_partitions_inflight}
    if table.definitions.keys() <= named:
        return
    try:
        for build in pending_builds(table.view.timeline):
            named.update(planned_partitions(table.view.storage, config, build))
    except CorruptTableError:
        return  # that build may be of any partition
    if table.definitions.keys() <= named:
        return
    for status in storage.list(""):
        if status.is_dir and status.name not in named and kind_of(status.name) is not None:
            _log.warning("the index %s of table %s, which its properties do not name, goes", status.name, table.view.storage.uri)
            storage.delete_tree(status.name)
