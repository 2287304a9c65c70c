"""Indexes of which a key lives in its own partition: SIMPLE, BLOOM, INMEMORY, RECORD_LEVEL_INDEX, which find it in different ways.

Rules: `HoodieSimpleIndex`, `HoodieBloomIndex`, `HoodieInMemoryHashIndex`. Hudi's index INMEMORY forgets with its process what it knew,
and is for tests; here it reads what is stored, as SIMPLE does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow.compute as pc

from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Hits, KeyLocator, KeyLookup, LookupContext
from pyhudi.index.live_records import filter_hits, mark_live, of_live_records
from pyhudi.index.rows import PartitionRows, TaggedRows, key_array, with_positions


@dataclass(frozen=True, slots=True)
class PartitionIndex:
    """Looks in the partition of each row; `name` is the value of `hoodie.index.type`."""

    name: str = "SIMPLE"
    locator: KeyLocator = field(default_factory=KeyScan)

    @property
    def is_global(self) -> bool:
        """False: the same key may live in several partitions."""
        return False

    def tag(self, parts: Sequence[PartitionRows], lookup: LookupContext) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol."""
        match = self.locator.locate([KeyLookup(key_array(part.rows), part.partition_path) for part in parts], lookup)
        return [_tag_rows(part, hits, lookup) for part, hits in zip(parts, match, strict=True)]


def _tag_rows(part: PartitionRows, all_hits: Sequence[Hits], lookup: LookupContext) -> TaggedRows:
    keys = key_array(part.rows)
    is_live = functools.partial(mark_live, lookup)
    if lookup.live_only:
        all_hits = [filter_hits(hits, is_live(hits, keys)) for hits in all_hits]
    return split_by_hits(part, of_live_records(all_hits, keys, is_live), positions=lookup.positions)


def split_by_hits(part: PartitionRows, all_hits: Sequence[Hits], *, positions: bool) -> TaggedRows:
    """Return the rows by the slices that hold their keys, with their places in the base files when asked for."""
    updates, known = [], None
    for hits in all_hits:
        if hits.rows.null_count < len(hits.rows):
            mask = hits.rows.is_valid()
            rows = part.rows.filter(mask)
            updates.append((hits.file_slice, with_positions(rows, hits.rows.drop_null()) if positions else rows))
            known = mask if known is None else pc.or_(known, mask)
    inserts = part.rows if known is None else part.rows.filter(pc.invert(known))
    return TaggedRows(part.partition_path, tuple(updates), inserts)
