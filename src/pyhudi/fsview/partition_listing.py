"""Finding the partitions of a table by walking its folders.

Rules: `FileSystemBackedTableMetadata`, `HoodiePartitionMetadata`; docs/format/data-files.md#partition-metadata-file. A folder is a
partition when it holds a partition metafile. Other than Hudi the walk continues below one: values with slashes can nest partitions, and
their rows must not get lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.storage.storage_protocol import FileStatus, Storage

_METAFILES = frozenset({PARTITION_METAFILE, f"{PARTITION_METAFILE}.parquet", f"{PARTITION_METAFILE}.orc"})
_META_FOLDER = ".hoodie"


def walk_partitions(storage: Storage, start: str = "") -> Iterator[tuple[str, list[FileStatus]]]:
    """Yield each partition path at or below `start` with its listing; folders are listed once."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        listing = storage.list(folder)
        if is_partition(listing):
            yield folder, listing
        waiting += [status.path for status in listing if status.is_dir and status.path != _META_FOLDER]


def folders_at_depth(storage: Storage, depth: int) -> Iterator[str]:
    """Yield the folders `depth` levels below the table's base, which are not listed themselves.

    A partition above that level is yielded in place of the folders below it. So every partition is at or below exactly
    one of the folders, and a caller that can tell from a folder's name that it is of no use saves its listing.
    """
    level = [""]
    for _ in range(depth):
        listings = {folder: storage.list(folder) for folder in level}
        shallow = {folder for folder, listing in listings.items() if is_partition(listing)}
        yield from shallow
        level = [
            status.path
            for folder, listing in listings.items()
            for status in listing
            if folder not in shallow and status.is_dir and status.path != _META_FOLDER
        ]
    yield from level


def is_partition(listing: Iterable[FileStatus]) -> bool:
    """Tell whether a folder's listing shows a partition metafile of any format."""
    return any(status.name in _METAFILES for status in listing)
