"""Keys of a record's own fields, which is what all of Hudi's generators make: bare or naming the fields, with some layout of partitions.

Rules: `SimpleKeyGenerator`, `ComplexKeyGenerator`, `NonpartitionedKeyGenerator`, `TimestampBasedKeyGenerator`, `CustomKeyGenerator`,
`GlobalDeleteKeyGenerator`; they differ in what `pyhudi.keygen.choose_generator` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.keygen.key_generator_protocol import KeyFields, PartitionLayout, Strings


@dataclass(frozen=True, slots=True)
class FieldKeys:
    """Keys of fields, and where their records go."""

    key: KeyFields
    layout: PartitionLayout

    def record_key(self, values: Strings, *, row: int) -> str:
        """See `KeyFields.record_key`."""
        return self.key.record_key(values, row=row)
