"""Key generator SIMPLE: one key field, whose bare value is the key. Rules: `SimpleKeyGenerator`."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.protocol import PartitionLayout, Texts, bare_key


@dataclass(frozen=True, slots=True)
class SimpleKeys:
    """Bare key of one field."""

    key_fields: tuple[str, ...]
    layout: PartitionLayout
    is_composite: bool = False

    def record_key(self, values: Texts, *, row: int) -> str:
        """See `KeyGenerator.record_key`."""
        return bare_key(self.key_fields[0], values[0], row=row)
