"""The partitions of the metadata table: their names, the file groups in them, the kind of their records.

Rules: `MetadataPartitionType`; docs/format/metadata-table.md#partitions-and-file-groups.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.partition_path import escape_value, unescape_value

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


def file_id(partition: str, number: int, within: str = "") -> str:
    """Return the file id of a partition's file group; `within` is the data table's partition in a record index by partition.

    Example:
        >>> file_id("secondary_index_rider_idx", 7)
        'secondary-index-rider-idx-0007-0'
        >>> file_id("record_index", 0, "region=us/day=1")
        'record-index-region%3Dus%2Fday%3D1-0000-0'
    """
    prefix = _prefix(partition)
    return f"{prefix}{escape_value(within)}-{number:04d}-0" if within else f"{prefix}{number:04d}-0"


def slices_of_partition(partition: str, slices: Iterable[FileSlice]) -> tuple[FileSlice, ...]:
    """Return the file slices of a partition that are its own, by file id.

    A clean of Apache Hudi 1.2.0 puts what it deletes from expression indexes of bounds into log files in the folder of `column_stats`,
    named by file ids of the other partition: no record of a file that is there. Where no id is as it should be, all are returned, to be
    refused.
    """
    in_order = sorted(slices, key=lambda slice_: slice_.group.file_id)
    prefix = _prefix(partition)
    return tuple([slice_ for slice_ in in_order if slice_.group.file_id.startswith(prefix)] or in_order)


def within_of(partition: str, group: str) -> str:
    """Return the data table's partition whose keys a file group of a record index by partition holds; empty for other file groups."""
    inner = group.removeprefix(_FILE_ID_PREFIXES.get(partition, ""))[: -len("-0000-0")]
    return unescape_value(inner)


def _prefix(partition: str) -> str:
    return _FILE_ID_PREFIXES.get(partition) or partition.replace("_", "-") + "-"
