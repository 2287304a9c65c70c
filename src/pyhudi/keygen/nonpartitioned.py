"""Key generator NON_PARTITION: one field bare, several composite, no partitions.

Rules: `NonpartitionedKeyGenerator`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.protocol import PartitionLayout, Texts, bare_key, composite_key


@dataclass(frozen=True, slots=True)
class NonpartitionedKeys:
    """Bare key of one field or composite key of several; every record is in the one partition `""`."""

    key_fields: tuple[str, ...]

    @property
    def is_composite(self) -> bool:
        """See `KeyGenerator.is_composite`."""
        return len(self.key_fields) > 1

    @property
    def layout(self) -> PartitionLayout:
        """See `KeyGenerator.layout`."""
        return PartitionLayout()

    def record_key(self, values: Texts, *, row: int) -> str:
        """See `KeyGenerator.record_key`."""
        if self.is_composite:
            return composite_key(self.key_fields, values, row=row)
        return bare_key(self.key_fields[0], values[0], row=row)
