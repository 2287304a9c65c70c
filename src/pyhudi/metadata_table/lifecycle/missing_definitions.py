"""Indexes whose definitions are lost, since the file that holds them is damaged or missing.

The source of such an index is unknown, so it cannot be kept or rebuilt: it goes, with a warning, and the rest of the metadata table is
built without it. Writes would fail for ever otherwise.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.index_definitions import PATH, PATH_PROPERTY, load_definitions, render_definitions
from pyhudi.metadata_table.format.metadata_partitions import EXPRESSION_PREFIX, RECORD_INDEX, SECONDARY_PREFIX
from pyhudi.metadata_table.read.writer_table import TimeAndIds
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import METADATA_PARTITIONS
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import store_properties

_log = logging.getLogger(__name__)
#: The definition of a record index says whether it is one by partition.
_DEFINED = (RECORD_INDEX, SECONDARY_PREFIX, EXPRESSION_PREFIX)


def without_lost_definitions(storage: Storage, config: TableConfig, sources: TimeAndIds) -> TableConfig:
    """Return the properties of a table that names no index whose definition is lost, before its metadata table is rebuilt.

    Raises:
        StorageError: the storage failed.
    """
    try:
        load_definitions(storage, config)
    except CorruptTableError as error:
        lost = [name for name in config.metadata_partitions if name.startswith(_DEFINED)]
        _log.warning("the definitions of indexes are lost, make these again: %s (%s)", ", ".join(lost) or "none", error)
    else:
        return config
    storage.replace(PATH, render_definitions({}))
    retained = sorted(name for name in config.metadata_partitions if name not in lost)
    changes = {METADATA_PARTITIONS: ",".join(retained), PATH_PROPERTY: PATH}
    return replace(config, properties=store_properties(storage, changes, sources.clock.now()))
