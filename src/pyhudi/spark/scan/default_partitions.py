"""Which partitions say too little of a text column: the folder of the default partition holds null and the empty text alike.

Rules: `KeyGenUtils.getPartitionPath`. Apache Hudi on Spark reads null for both. Here both engines read what the files hold, so partitions
with such a folder get a scan of their own, in which the column comes from the files; a table without one is scanned as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql.types import StringType, StructType

from pyhudi.errors import KeyFieldError
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spec.table.table_config import TableConfig


@dataclass(frozen=True, slots=True)
class PartitionSet:
    """The partitions that have the default folder for the columns `in_files` and for no other of the columns `text_columns`."""

    config: TableConfig
    text_columns: frozenset[str]
    in_files: frozenset[str]

    def holds(self, partition_path: str) -> bool:
        """Tell whether a partition belongs to the set; a path that cannot be taken apart names no default folder."""
        try:
            return _default_columns(partition_path, self.config, self.text_columns) == self.in_files
        except KeyFieldError:
            return not self.in_files

    def may_hold_below(self, folder: str) -> bool:
        """Tell whether a partition at or below a folder may belong to the set: a longer path names no more default folders."""
        try:
            return self.in_files <= _default_columns(folder, self.config, self.text_columns)
        except KeyFieldError:
            return True


def partition_sets(snapshot: Snapshot, in_paths: StructType) -> list[PartitionSet]:
    """Return the sets of partitions that are scanned apart, at least one; only folders above partitions are listed.

    Args:
        snapshot: What is read.
        in_paths: The partition columns whose values Spark would take from the paths.
    """
    text_columns = frozenset(field.name for field in in_paths if isinstance(field.dataType, StringType))
    groups = {frozenset[str](), *_folders_by_default(snapshot, text_columns)} if text_columns else {frozenset[str]()}
    return [PartitionSet(snapshot.config, text_columns, in_files) for in_files in sorted(groups, key=sorted)]


def _folders_by_default(snapshot: Snapshot, text_columns: frozenset[str]) -> Iterator[frozenset[str]]:
    for folder in snapshot.partition_folders:
        try:
            yield _default_columns(folder, snapshot.config, text_columns)
        except KeyFieldError:  # part of a longer path
            for path in snapshot.partitions_below(folder):
                try:
                    yield _default_columns(path, snapshot.config, text_columns)
                except KeyFieldError:  # the scan names it
                    continue


def _default_columns(path: str, config: TableConfig, text_columns: frozenset[str]) -> frozenset[str]:
    """Return the text columns for which a path names the default partition.

    Raises:
        KeyFieldError: the path cannot be taken apart.
    """
    named = zip(config.partition_fields, config.partition_values(path), strict=True)
    return frozenset(name for name, text in named if text is None and name in text_columns)
