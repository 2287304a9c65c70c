"""What one kind of partition contributes to the metadata table: the seam between the table as a whole and its indexes.

Rules: `MetadataPartitionType`, `HoodieTableMetadataUtil.convertMetadataTo*Records`;
docs/format/metadata-table.md#partitions-and-file-groups, #initialization, #what-each-action-records. `kinds.KINDS` lists the kinds that
this release writes. Who adds one implements this protocol and adds it there; nothing else asks which kinds there are: `in_step` calls each
kind for the partitions that the table has or that options want.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.write.data_table_changes import InitialGroup, PartitionChanges
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata


class PartitionKind(Protocol):
    """A kind of partition, e.g. `column_stats`, or all secondary indexes. It has no state: all that differs is in its arguments.

    Every call is made while the data table's lock is held. A rollback asks no kind: the log files of the failed action's delta
    commit are deleted as they are, file groups that it began included. Neither does a compaction: records merge by their own
    kind (`merge.py`).
    """

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        ...

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:
        """Return how the index is defined by default (options do that), None when it needs no definition.

        It is written before `initial` is called, for a partition that has none yet.
        """
        ...

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns for the same state of the table."""
        ...

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the file groups that hold the table as it is, all of the new partition, the empty ones too.

        Raises:
            UnsupportedError: the index cannot be built on this table; nothing was written.
        """
        ...

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> PartitionChanges:
        """Return what a commit, deltacommit, compaction, clustering or overwrite changes that is about to complete.

        `table.view` shows the table before it; the files that it wrote are there, with the markers' leftovers gone.
        """
        ...

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> PartitionChanges | None:
        """Return what a clean changes that has deleted its files; None for nothing at all."""
        ...
