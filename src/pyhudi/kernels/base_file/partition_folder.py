"""The file that makes a folder a partition.

Rules: Hudi technical specification, "Partition metadata"; `HoodiePartitionMetadata`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyhudi.codec.partition_metafile import render
from pyhudi.errors import AlreadyExistsError
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


def ensure_partition(storage: Storage, partition_path: str, instant: str) -> None:
    """Make a folder a partition unless it is one already; of several tasks at once, one does it.

    The time noted in the file is the instant's, so that a task writes the same bytes when it is tried again.
    """
    path = join_path(partition_path, PARTITION_METAFILE)
    if storage.stat(path) is not None or storage.stat(f"{path}.parquet") is not None:
        return
    depth = len(partition_path.split("/")) if partition_path else 0
    noted = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    try:
        storage.create(path, render(instant, depth, noted))
    except AlreadyExistsError:
        return
