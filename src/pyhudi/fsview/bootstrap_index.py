"""The bootstrap index of a table: which source file holds the data of a skeleton.

Rules: `HFileBootstrapIndex`; docs/format/bootstrap.md#index. The index is written once, by the bootstrap. Later writes leave
it as it is: it also names file groups that were rewritten since.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from pyhudi.cache import LruCache
from pyhudi.codec.actions.bootstrap_codec import decode_partition_sources, decode_rows, partition_row
from pyhudi.codec.hfile.reader import HFileReader
from pyhudi.errors import CorruptTableError
from pyhudi.spec.files.bootstrap_source import BootstrapSource, PartitionSources
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.storage.storage_protocol import Storage

_FILE_NAME: Final = "00000000-0000-0000-0000-000000000000-0_1-0-1_00000000000001.hfile"
#: The index by partition, and the one by file group; each is there only with the other.
PARTITION_INDEX: Final = f".hoodie/.aux/.bootstrap/.partitions/{_FILE_NAME}"
FILE_INDEX: Final = f".hoodie/.aux/.bootstrap/.fileids/{_FILE_NAME}"
#: Partitions that were looked up lately. File ids are random, so that those of a table made again at the same path are not found here.
_PARTITIONS: LruCache[tuple[str, str], PartitionSources] = LruCache(1 << 17, lambda one: 1 + len(one.files))


def source_of(storage: Storage, skeleton: BaseFile) -> BootstrapSource:
    """Return the source file of a skeleton.

    Raises:
        CorruptTableError: the index is missing, damaged, or does not name the file.
    """
    path, file_id = skeleton.partition_path, skeleton.name.file_id
    known = _PARTITIONS.get((storage.uri, path))
    if known is None or file_id not in known.files:
        known = _look_up(storage, path)
        if known is None or file_id not in known.files:
            raise CorruptTableError(
                f"File '{skeleton.path}' of the table at {storage.uri} holds only the meta columns of its rows, and the bootstrap index"
                f" '{PARTITION_INDEX}' does not name the source file of their data: restore the index, or bootstrap the table again."
            )
        _PARTITIONS.put((storage.uri, path), known)
    return known.files[file_id]


def indexed_partitions(storage: Storage) -> Iterator[PartitionSources]:
    """Yield all partitions of the index, sorted by path; none when the table has no index.

    Raises:
        CorruptTableError: the index is damaged.
    """
    if storage.stat(PARTITION_INDEX) is None or storage.stat(FILE_INDEX) is None:
        return
    with storage.open_input(PARTITION_INDEX) as source:
        yield from decode_rows(_open(storage, source).entries())


def _look_up(storage: Storage, partition_path: str) -> PartitionSources | None:
    try:
        with storage.open_input(PARTITION_INDEX) as source:
            value = _open(storage, source).get(partition_row(partition_path))
            return None if value is None else decode_partition_sources(value)
    except FileNotFoundError:
        return None


def _open(storage: Storage, source: BinaryIO) -> HFileReader:
    status = storage.stat(PARTITION_INDEX)
    return HFileReader(source, 0 if status is None else status.size, f"the bootstrap index of the table at {storage.uri}")
