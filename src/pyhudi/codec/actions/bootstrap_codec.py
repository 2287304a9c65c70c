"""The two HFiles of the bootstrap index, from and to bytes.

Rules: `HFileBootstrapIndex`; `HoodieBootstrapPartitionMetadata.avsc`, `HoodieBootstrapFilePartitionInfo.avsc`;
docs/format/bootstrap.md#index. One file has an entry for each partition, the other one for each file group; a value is an Avro container
of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.codec.hfile.block import Codec
from pyhudi.codec.hfile.writer import HFileWriter
from pyhudi.errors import CorruptTableError
from pyhudi.spec.files.bootstrap_source import BootstrapSource, PartitionSources

_PARTITION = "HoodieBootstrapPartitionMetadata"
_FILE = "HoodieBootstrapFilePartitionInfo"
_INFO = "HoodieBootstrapIndexInfo"
#: The entry of the file info that describes the index.
INDEX_INFO = "INDEX_INFO"
#: The block size of local files that Hadoop states; it means nothing to readers.
_HADOOP_BLOCK_BYTES = 32 * 1024 * 1024


def partition_row(partition_path: str) -> bytes:
    """Return the key of a partition."""
    return f"part={partition_path}".encode()


def file_row(partition_path: str, file_id: str) -> bytes:
    """Return the key of a file group."""
    return f"part={partition_path};fileid={file_id}".encode()


def decode_partition_sources(data: bytes) -> PartitionSources:
    """Decode the entry of a partition.

    Raises:
        CorruptTableError: the bytes are no such entry.
    """
    _, record = decode_record(data, _PARTITION)
    source_path = record["bootstrapPartitionPath"] or ""
    files = {file_id: _source(status, source_path) for file_id, status in (record["fileIdToBootstrapFile"] or {}).items()}
    return PartitionSources(record["partitionPath"] or "", source_path, files)


def _source(status: Record, source_path: str) -> BootstrapSource:
    path, size = status["path"], status["length"]
    if path is None or not path["uri"] or size is None:
        raise CorruptTableError("the bootstrap index has a file without path or length")
    return BootstrapSource(path["uri"], size, status["modificationTime"] or 0, source_path)


def render_index(
    partitions: Sequence[PartitionSources], base_path: str, *, created_ms: int, new_sync: Callable[[], bytes]
) -> tuple[bytes, bytes]:
    """Return the bytes of the index by partition, and of the one by file group.

    Args:
        partitions: the partitions whose data stays in the source.
        base_path: the path that was bootstrapped.
        created_ms: milliseconds since the epoch.
        new_sync: gives 16 random bytes for each container.
    """
    ordered = sorted(partitions, key=lambda one: partition_row(one.partition_path))
    by_partition = ((partition_row(one.partition_path), encode_record(_PARTITION, _partition(one), sync=new_sync())) for one in ordered)
    by_file = sorted(
        (file_row(one.partition_path, file_id), encode_record(_FILE, _file(one, source), sync=new_sync()))
        for one in ordered
        for file_id, source in one.files.items()
    )
    return _render(by_partition, base_path, len(ordered), created_ms, new_sync), _render(
        by_file, base_path, len(by_file), created_ms, new_sync
    )


def _render(entries: Iterable[tuple[bytes, bytes]], base_path: str, count: int, created_ms: int, new_sync: Callable[[], bytes]) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=created_ms, codec=Codec.NONE)
    for row, value in entries:
        writer.append(row, value)
    info: Record = {"version": None, "bootstrapBasePath": base_path, "createdTimestamp": created_ms, "numKeys": count}
    writer.finish(info={INDEX_INFO: encode_record(_INFO, info, sync=new_sync())})
    return sink.getvalue()


def _partition(sources: PartitionSources) -> Record:
    return {
        "version": None,
        "bootstrapPartitionPath": sources.source_path,
        "partitionPath": sources.partition_path,
        "fileIdToBootstrapFile": {file_id: _status(source) for file_id, source in sources.files.items()},
    }


def _file(sources: PartitionSources, source: BootstrapSource) -> Record:
    return {
        "version": None,
        "bootstrapPartitionPath": sources.source_path,
        "bootstrapFileStatus": _status(source),
        "partitionPath": sources.partition_path,
    }


def _status(source: BootstrapSource) -> Record:
    return {
        "version": None,
        "path": {"version": 1, "uri": source.uri},
        "length": source.size,
        "isDir": False,
        "blockReplication": 1,
        "blockSize": _HADOOP_BLOCK_BYTES,
        "modificationTime": source.modified_ms,
        "accessTime": source.modified_ms,
        "permission": None,
        "owner": None,
        "group": None,
        "symlink": None,
    }


def decode_rows(entries: Iterable[tuple[bytes, bytes]]) -> Iterator[PartitionSources]:
    """Yield the entries of the index by partition."""
    for _, value in entries:
        yield decode_partition_sources(value)
