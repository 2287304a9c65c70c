"""The file that makes a folder a partition.

Rules: Hudi technical specification, "Partition metadata"; `HoodiePartitionMetadata`.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.partition_metafile import PartitionMetafile, parse, render
from pyhudi.errors import AlreadyExistsError, CorruptTableError
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.timeline.clock import noted_time

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: The metafile of the format of base files.
PARTITION_BASE_METAFILE: Final = f"{PARTITION_METAFILE}.parquet"
_MAX_BYTES: Final = 1 << 16


def ensure_partition(storage: Storage, partition_path: str, instant: str) -> None:
    """Make a folder a partition unless it is one already; of several tasks at once, one does it.

    The time noted in the file is the instant's, so that a task writes the same bytes when it is tried again.
    """
    path = join_path(partition_path, PARTITION_METAFILE)
    if storage.stat(path) is not None or storage.stat(join_path(partition_path, PARTITION_BASE_METAFILE)) is not None:
        return
    depth = len(partition_path.split("/")) if partition_path else 0
    try:
        storage.create(path, render(instant, depth, noted_time(instant)))
    except AlreadyExistsError:
        return


def read_partition_metafile(storage: Storage, partition_path: str) -> PartitionMetafile:
    """Return what the metafile of a partition says, whichever its format.

    Raises:
        CorruptTableError: it is damaged.
        FileNotFoundError: there is none.
    """
    path = join_path(partition_path, PARTITION_METAFILE)
    try:
        return parse(storage.read(path, max_bytes=_MAX_BYTES))
    except FileNotFoundError:
        data = storage.read(join_path(partition_path, PARTITION_BASE_METAFILE), max_bytes=_MAX_BYTES)
    try:
        values = pq.read_schema(pa.BufferReader(data)).metadata or {}
    except pa.ArrowException as error:
        raise CorruptTableError(f"the partition metafile of '{partition_path}' of table {storage.uri} is damaged: {error}") from error
    return parse(b"\n".join(name + b"=" + value for name, value in values.items()))


def render_base_metafile(metafile: PartitionMetafile) -> bytes:
    """Encode a metafile of the format of base files: no rows, its values in the footer."""
    values = {"commitTime": metafile.commit_time, "partitionDepth": str(metafile.depth)}
    sink = io.BytesIO()
    pq.write_table(pa.schema([("dummyint", pa.int64())]).empty_table().replace_schema_metadata(values), sink)
    return sink.getvalue()
