"""Keys of tables without key fields: made up, `<instant>_<task partition>_<row>`.

Rules: `AutoRecordKeyGenerator`, RFC-76.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.protocol import PartitionLayout, Texts


@dataclass(frozen=True, slots=True)
class AutoKeys:
    """Keys that tell instant, task and row, and so are never given twice."""

    instant: str
    task_partition: int
    layout: PartitionLayout
    key_fields: tuple[str, ...] = ()
    is_composite: bool = False

    @property
    def prefix(self) -> str:
        """What stands before the row's number."""
        return f"{self.instant}_{self.task_partition}_"

    def record_key(self, values: Texts, *, row: int) -> str:  # noqa: ARG002 - the protocol's signature
        """See `KeyGenerator.record_key`."""
        return f"{self.prefix}{row}"
