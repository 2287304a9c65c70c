"""The index SIMPLE: a key lives in its own partition; the key columns of that partition's base files tell where.

Rules: `HoodieSimpleIndex`. Only files whose key range can hold a key are read (`pyhudi.kernels.probe`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.probe import ProbeTask, probe
from pyhudi.index.protocol import Lookup
from pyhudi.index.rows import PartitionRows, TaggedRows, key_array
from pyhudi.spec.file_group import BaseFile


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
        tasks, owners = [], []
        for number, part in enumerate(parts):
            keys = key_array(part.rows)
            for file in lookup.view.latest_base_files(part.partition_path):
                tasks.append(ProbeTask(file, keys))
                owners.append(number)
        found: list[list[tuple[BaseFile, pa.BooleanArray]]] = [[] for _ in parts]
        for number, task, mask in zip(owners, tasks, probe(lookup, tasks), strict=True):
            found[number].append((task.file, mask))
        return [split_by_hits(part, hits) for part, hits in zip(parts, found, strict=True)]


def split_by_hits(part: PartitionRows, found: Sequence[tuple[BaseFile, pa.BooleanArray]]) -> TaggedRows:
    """Return the rows by the files that hold their keys; `found` has a mask over the rows for each file."""
    updates, known = [], None
    for file, mask in found:
        if pc.any(mask).as_py():
            updates.append((file, part.rows.filter(mask)))
            known = mask if known is None else pc.or_(known, mask)
    inserts = part.rows if known is None else part.rows.filter(pc.invert(known))
    return TaggedRows(part.partition_path, tuple(updates), inserts)
