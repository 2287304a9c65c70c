"""The kinds of table that are restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table


@dataclass(frozen=True)
class Kind:
    """A type and version of table."""

    table_type: str
    version: int

    def table(self, storage: Storage | None = None) -> HudiTable:
        """A partitioned table without rows."""
        options = {"hoodie.write.table.version": str(self.version)}
        return make_table(storage or MemoryStorage(), partition_by=["city"], table_type=self.table_type, options=options)

    @property
    def options(self) -> Mapping[str, str]:
        """Those of its writes: with a metadata table and a record index."""
        return {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}

    def __str__(self) -> str:
        return f"{self.table_type.lower()} version {self.version}"


KINDS = [Kind(table_type, version) for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in (9, 8, 6)]
EACH_KIND = pytest.mark.parametrize("kind", KINDS, ids=str)
