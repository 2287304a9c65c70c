"""`.hoodie_partition_metadata`: the file that makes a folder a partition.

Rules: `HoodiePartitionMetadata`. It names the instant that made the partition and how many folders it lies below
    the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.properties import parse_properties, render_lines

_COMMIT_TIME = "commitTime"
_DEPTH = "partitionDepth"


@dataclass(frozen=True, slots=True)
class PartitionMetafile:
    """Instant that created the partition, and its depth below the base path (0 when not partitioned)."""

    commit_time: str
    depth: int


def parse(data: bytes) -> PartitionMetafile:
    """Decode a partition metafile.

    Raises:
        CorruptTableError: the instant or the depth is missing or malformed.
    """
    entries = parse_properties(data)
    commit_time, depth = entries.get(_COMMIT_TIME, ""), entries.get(_DEPTH, "")
    if not commit_time or not depth.isascii() or not depth.isdecimal() or len(depth) > 4:
        raise CorruptTableError(f"partition metafile holds {_COMMIT_TIME}='{commit_time}' and {_DEPTH}='{depth}': it is damaged")
    return PartitionMetafile(commit_time, int(depth))


def render(commit_time: str, depth: int, at: datetime) -> bytes:
    """Encode a partition metafile; `at` is the aware time in its comment."""
    return render_lines("partition metadata", [(_COMMIT_TIME, commit_time), (_DEPTH, str(depth))], at)
