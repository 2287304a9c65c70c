"""What all methods of `HudiTable` share: the storage, the sources of time and ids, the properties."""

from __future__ import annotations

from os import PathLike

import pyarrow as pa

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UsageError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.notebook_html import properties_html
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_readable
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import Clock, SystemClock
from pyhudi.txn.ids import Ids, SystemIds


class TableHandle:
    """An open table without methods that read or write rows."""

    def __init__(self, storage: Storage, *, clock: Clock | None = None, ids: Ids | None = None, engine: Engine | None = None) -> None:
        """Open the table on a storage; `open` is the usual way.

        Args:
            storage: where the table is, as `pyhudi.storage.open_storage.open_storage` gives it.
            clock: tells the time of commits, for tests; the clock of this machine by default.
            ids: makes ids of files, for tests; random ones by default.
            engine: runs the tasks of writes; threads of this process by default.

        Raises:
            UsageError: `storage` is not a storage but, say, a path.
            TableNotFound: there is no table.
            CorruptTableError: its properties are damaged.
            UnsupportedError: it has a version or a feature that is not served.
        """
        if isinstance(storage, str | PathLike) or not hasattr(storage, "read"):
            raise UsageError(f"HudiTable takes a storage, not {storage!r:.100}; HudiTable.open(path) opens the table at a path.")
        self.storage = storage
        self.clock = clock or SystemClock()
        self.ids = ids or SystemIds()
        self._engine = engine
        self.refresh()

    def refresh(self) -> None:
        """Read the table's properties again, which another process may have changed by an upgrade; errors as in the constructor.

        Example:
            >>> table.refresh()
            >>> table.config.version
            9
        """
        config = TableConfig(load_properties(self.storage))
        check_readable(config)
        self._config = config

    @property
    def config(self) -> TableConfig:
        """The table's properties (`hoodie.properties`) as they were when it was opened.

        Example:
            >>> table.config.record_key_fields, table.config.is_merge_on_read
            (('id',), True)
        """
        return self._config

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what the table is, and its columns."""
        config = self.config
        properties = {
            "path": self.storage.uri,
            "type": config.table_type,
            "version": config.version,
            "record key": config.record_key_fields,
            "partitioned by": config.partition_fields,
            "ordered by": config.ordering_fields,
            "indexes": config.metadata_partitions,
            "columns": [f"{field.name} ({field.type})" for field in self.schema],
        }
        return properties_html(f"Hudi table {config.name}", properties)

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table now, without the `_hoodie_*` columns.

        Raises:
            CorruptTableError: the latest commit, which states them, is damaged.

        Example:
            >>> table.schema.field("fare").type
            DataType(double)
        """
        return open_snapshot(self.storage, SnapshotQuery()).schema
