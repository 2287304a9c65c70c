"""The index SIMPLE: a key lives in its own partition; the key columns of that partition's base files tell where.

Rules: `HoodieSimpleIndex`. Only files whose key range can hold a key are read (`pyhudi.kernels.probe`). Log files need no look: a new
record always begins in a base file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.probe import Hits, probe, slices_to_ask
from pyhudi.index.protocol import Lookup
from pyhudi.index.rows import PartitionRows, TaggedRows, key_array, with_positions
from pyhudi.index.standing import of_standing_records, standing


@dataclass(frozen=True, slots=True)
class SimpleIndex:
    """Looks in the partition of each row."""

    @property
    def name(self) -> str:
        """`SIMPLE`."""
        return "SIMPLE"

    @property
    def is_global(self) -> bool:
        """False: the same key may live in several partitions."""
        return False

    def tag(self, parts: Sequence[PartitionRows], lookup: Lookup) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol."""
        asked, owners = [], []
        for number, part in enumerate(parts):
            keys = key_array(part.rows)
            for piece in slices_to_ask(lookup.view, part.partition_path):
                asked.append((piece, keys))
                owners.append(number)
        found: list[list[Hits]] = [[] for _ in parts]
        for number, hits, (_, keys) in zip(owners, probe(lookup, asked), asked, strict=True):
            found[number].append(_standing(lookup, hits, keys) if lookup.standing and hits.piece.logs else hits)
        resolved = [of_standing_records(lookup, hits, key_array(part.rows)) for part, hits in zip(parts, found, strict=True)]
        return [split_by_hits(part, hits, positions=lookup.positions) for part, hits in zip(parts, resolved, strict=True)]


def _standing(lookup: Lookup, hits: Hits, keys: pa.StringArray) -> Hits:
    """Leave out hits whose record was deleted by a log."""
    stands = standing(lookup, hits, keys)
    return Hits(hits.piece, pc.if_else(stands, hits.rows, pa.scalar(None, pa.int64())))


def split_by_hits(part: PartitionRows, found: Sequence[Hits], *, positions: bool) -> TaggedRows:
    """Return the rows by the slices that hold their keys, with their places in the base files when asked for."""
    updates, known = [], None
    for hits in found:
        if hits.rows.null_count < len(hits.rows):
            mask = hits.rows.is_valid()
            rows = part.rows.filter(mask)
            updates.append((hits.piece, with_positions(rows, hits.rows.drop_null()) if positions else rows))
            known = mask if known is None else pc.or_(known, mask)
    inserts = part.rows if known is None else part.rows.filter(pc.invert(known))
    return TaggedRows(part.partition_path, tuple(updates), inserts)
