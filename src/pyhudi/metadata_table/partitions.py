"""The partitions of the metadata table: their names, the file groups in them, the kind of their records.

Rules: `MetadataPartitionType`; format notes (metadata table) 2.2.
"""

from __future__ import annotations

FILES = "files"
COLUMN_STATS = "column_stats"
PARTITION_STATS = "partition_stats"
BLOOM_FILTERS = "bloom_filters"
RECORD_INDEX = "record_index"
SECONDARY_PREFIX = "secondary_index_"
EXPRESSION_PREFIX = "expr_index_"

_FILE_ID_PREFIXES = {
    FILES: "files-",
    COLUMN_STATS: "col-stats-",
    PARTITION_STATS: "partition-stats-",
    BLOOM_FILTERS: "bloom-filters-",
    RECORD_INDEX: "record-index-",
}


def file_id(partition: str, number: int) -> str:
    """Return the file id of a partition's file group.

    Example:
        >>> file_id("secondary_index_rider_idx", 7)
        'secondary-index-rider-idx-0007-0'
    """
    prefix = _FILE_ID_PREFIXES.get(partition) or partition.replace("_", "-") + "-"
    return f"{prefix}{number:04d}-0"
