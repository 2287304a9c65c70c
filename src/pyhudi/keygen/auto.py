"""Keys of tables without key fields: made up, `<instant>_<task partition>_<row>`.

Rules: `AutoRecordKeyGenerator`, RFC-76.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.key_generator_protocol import PartitionLayout


@dataclass(frozen=True, slots=True)
class AutoKeys:
    """Keys that tell instant, task and row, and so are never given twice."""

    instant: str
    task_partition: int
    layout: PartitionLayout

    @property
    def prefix(self) -> str:
        """What precedes the row's number."""
        return f"{self.instant}_{self.task_partition}_"

    def record_key(self, *, row: int) -> str:
        """Return the key of a row by its number in the task."""
        return f"{self.prefix}{row}"
