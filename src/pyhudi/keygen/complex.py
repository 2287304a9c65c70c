"""Key generator COMPLEX: keys that name their fields, `f1:v1,f2:v2`.

Rules: `ComplexKeyGenerator`. With one field the releases differ (HUDI-7001): version 9 tables name it too, older ones
may hold the bare value, as their settings say.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.protocol import PartitionLayout, Texts, bare_key, composite_key


@dataclass(frozen=True, slots=True)
class ComplexKeys:
    """Composite key of one or more fields."""

    key_fields: tuple[str, ...]
    layout: PartitionLayout
    is_composite: bool = True

    def record_key(self, values: Texts, *, row: int) -> str:
        """See `KeyGenerator.record_key`."""
        if not self.is_composite:
            return bare_key(self.key_fields[0], values[0], row=row)
        return composite_key(self.key_fields, values, row=row)
