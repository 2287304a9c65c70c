"""What a write needs of an open table: `HudiTable` has it, and the writing functions below it name no more than this."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids


class OpenTable(Protocol):
    """A table with the sources of time and ids that its writes use."""

    @property
    def storage(self) -> Storage:
        """The table's storage."""
        ...

    @property
    def clock(self) -> Clock:
        """Tells the time of new instants."""
        ...

    @property
    def ids(self) -> Ids:
        """Gives ids to new files."""
        ...

    @property
    def config(self) -> TableConfig:
        """The table's properties as they were when it was opened."""
        ...

    def refresh(self) -> None:
        """Read the properties again."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table now."""
        ...
