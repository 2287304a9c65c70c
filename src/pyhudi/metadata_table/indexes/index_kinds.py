"""The kinds of partitions whose records this release writes.

A table whose metadata table has a partition of another kind is refused by name before anything is written: an index that
is left behind would make readers miss rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.metadata_table.indexes.bloom_filters_kind import BloomFiltersKind
from pyhudi.metadata_table.indexes.expression_index_kind import ExpressionIndexKind
from pyhudi.metadata_table.indexes.files_kind import FilesKind
from pyhudi.metadata_table.indexes.index_kind import PartitionKind
from pyhudi.metadata_table.indexes.record_index_kind import RecordIndexKind
from pyhudi.metadata_table.indexes.secondary_index_kind import SecondaryIndexKind
from pyhudi.metadata_table.indexes.statistics_kinds import ColumnStatsKind, PartitionStatsKind

KINDS: tuple[PartitionKind, ...] = (
    FilesKind(),
    ColumnStatsKind(),
    PartitionStatsKind(),
    BloomFiltersKind(),
    RecordIndexKind(),
    SecondaryIndexKind(),
    ExpressionIndexKind(),
)


def kind_of(partition: str) -> PartitionKind | None:
    """Return the kind of a partition by its name; None when it is not written by this release."""
    return next((kind for kind in KINDS if kind.serves(partition)), None)


def with_kinds(names: Iterable[str]) -> dict[str, PartitionKind]:
    """Return those of the partitions that are written, by name, in the order in which they are recorded."""
    partition_names = set(names)
    return {name: kind for kind in KINDS for name in sorted(partition_names) if kind.serves(name)}
