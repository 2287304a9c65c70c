"""A scan of a bootstrapped table: Spark's own scan of the source files in the place of their skeletons, and of the other base files.

Rules: RFC-12; docs/format/bootstrap.md#reading. Columns are pruned and filters pushed as for any other file; nothing is shuffled. The
format of the scan (`java/hudi/SkeletonFormat.java`) adds the meta columns of a skeleton to the rows of its source, inside tasks. Two
hidden partition columns tell it which file is whose. Design: docs/design/0184-skeletons-in-sparks-scan.md.
"""

from __future__ import annotations

import enum
from typing import Final

import pyarrow as pa
from pyspark.sql.types import StringType, StructField

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.bootstrap_index import source_of
from pyhudi.kernels.base_file.stitched_rows import folder_values, source_file
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.jvm.error_translation import explain_reads_of_source
from pyhudi.spec.files.bootstrap_source import METADATA_BOOTSTRAP, is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.table.table_keys import BOOTSTRAP_BASE_PATH
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: The hidden partition columns of a scan with skeletons: the URI of the skeleton, and the path of its partition; empty for other files.
HIDDEN: Final = (
    StructField("_pyhudi_skeleton", StringType(), nullable=False),
    StructField("_pyhudi_partition", StringType(), nullable=False),
)
#: The values of the hidden columns for files that are no skeletons.
NO_SKELETON: Final = ("", "")


class Skeletons(enum.Enum):
    """Which of its files a scan takes: all, where a skeleton is an error or one of them; the skeletons alone, or all but these."""

    REFUSED = enum.auto()
    AMONG = enum.auto()
    ALONE = enum.auto()
    APART = enum.auto()

    @property
    def are_read(self) -> bool:
        """Whether there may be skeletons in the scan."""
        return self in (Skeletons.AMONG, Skeletons.ALONE)

    def holds(self, file: BaseFile) -> bool:
        """Tell whether a file belongs to the scan."""
        return self in (Skeletons.REFUSED, Skeletons.AMONG) or is_skeleton(file.name.instant) == (self is Skeletons.ALONE)


def has_skeletons(snapshot: Snapshot) -> bool:
    """Tell whether a snapshot may have skeletons."""
    is_bootstrapped = bool(snapshot.config.properties.get(BOOTSTRAP_BASE_PATH))
    return is_bootstrapped and snapshot.timeline.visibility.is_visible(METADATA_BOOTSTRAP)


def has_others(snapshot: Snapshot) -> bool:
    """Tell whether a snapshot may have rows that are in other files than those that were bootstrapped by their skeletons alone."""

    def of_others(timeline: Timeline) -> bool:
        return any(one.requested != METADATA_BOOTSTRAP for one in timeline.data_instants())

    timeline = snapshot.timeline
    return of_others(timeline) or of_others(timeline.with_archived())


def scanned_source(storage: Storage, skeleton: BaseFile, schema: pa.Schema, in_paths: frozenset[str]) -> tuple[str, int, int]:
    """Return URI, size and time of the file that is scanned in the place of a skeleton.

    Raises:
        CorruptTableError: the source file is missing or has changed.
        UnsupportedError: its folders name the values of a column that is no partition column of the table.
    """
    source = source_of(storage, skeleton)
    explain_reads_of_source(source.base, storage.uri)
    file = source_file(storage, skeleton, source)
    in_folders = sorted(folder_values(file, source, schema).keys() - in_paths)
    if in_folders:
        raise UnsupportedError(
            f"column '{in_folders[0]}' of the bootstrapped table at {storage.uri} has its values in the folders of {source.uri} only, and"
            " is no partition column of the table: read it without Spark, with HudiTable.to_arrow"
        )
    return source.uri, source.size, source.modified_ms
