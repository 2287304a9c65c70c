"""What an index answers: which rows of a write belong to which file slice, and which are new.

Rules: `HoodieIndex.tagLocation`. Keys may stand more than once in a table that was inserted into; a row then belongs to
every slice that holds its key, as in Hudi, so that an update or delete reaches all copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pyhudi.engine.protocol import Engine
from pyhudi.fsview.view import FileSystemView
from pyhudi.index.rows import PartitionRows, TaggedRows
from pyhudi.kernels.base_file import TableShape
from pyhudi.storage.protocol import Storage


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where an index looks: the table's storage, its files as of now, and the engine that does the reading.

    `shape` says how the table's records merge. `positions` asks for the places of the records in their base files, `standing` for none
    but records that logs have not deleted.
    """

    storage: Storage
    view: FileSystemView
    engine: Engine
    shape: TableShape
    positions: bool = False
    standing: bool = False


class Index(Protocol):
    """Finds the file slices that hold the keys of a write."""

    @property
    def name(self) -> str:
        """The value of `hoodie.index.type`."""
        ...

    @property
    def is_global(self) -> bool:
        """True when a key is unique in the table, not only in its partition."""
        ...

    def tag(self, parts: Sequence[PartitionRows], lookup: Lookup) -> list[TaggedRows]:
        """Return the rows by where they go; a partition may be added that only loses rows."""
        ...
