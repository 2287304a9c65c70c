"""Writes the log of changes of a file group whose base file is rewritten.

Rules: `HoodieCDCLogger`, `HoodieWriteMergeHandleWithChangeLog`; docs/format/cdc.md#change-log, #when-a-change-log-is-written. Apache Hudi's
readers expect a log next to every base file that was written on top of another, so one without entries is written where nothing changed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.codec.log.log_content import encode_avro_content
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.codec.varint import prefix_length
from pyhudi.kernels.arrays.avro_rows import encode
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.schema.meta_columns import RECORD_KEY, is_meta_column
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import BaseFileName, LogFileName
from pyhudi.spec.files.log_block import BlockHeader, BlockType
from pyhudi.spec.files.marker import MarkerType
from pyhudi.spec.table.cdc_mode import CHANGE_LOG_SUFFIX, DELETED, INSERTED, UPDATED, LoggingMode, change_schema

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_NULL, _VALUE = b"\x00", b"\x02"


class Rewrite(Protocol):
    """The task that rewrites a base file."""

    @property
    def instant(self) -> str:
        """Requested time of the write."""
        ...

    @property
    def write_token(self) -> str:
        """`<task partition>-<stage>-<attempt>`."""
        ...

    @property
    def file_name(self) -> BaseFileName:
        """Name of the base file."""
        ...

    @property
    def path(self) -> str:
        """Path of the base file, relative to the table's base path."""
        ...


class ChangeLog:
    """Takes the changes of one file group and writes them in blocks. The file is complete when the `with` block ends."""

    def __init__(self, storage: Storage, context: RecordContext, settings: WriterSettings, task: Rewrite) -> None:
        """Prepare the log next to the file of a task; nothing is written yet."""
        assert context.change_log is not None
        self._storage, self._markers = storage, settings.markers
        self._mode = context.change_log
        self._instant = task.instant
        self._block_bytes = settings.log.block_bytes
        self._images_json = _data_json(context.avro_schema_json)
        self._header = BlockHeader(instant=task.instant, schema_json=change_schema(self._mode, self._images_json))
        name = LogFileName(task.file_name.file_id, task.instant, 1, task.write_token, CHANGE_LOG_SUFFIX)
        self._path = join_path(task.path.rpartition("/")[0], str(name))
        self._entries: list[bytes] = []
        self._waiting = 0
        self._open = ExitStack()
        self._output: BinaryIO | None = None
        self._size = self._crc32 = 0

    @property
    def stats(self) -> dict[str, int]:
        """Path and size of the file, as write statistics tell them."""
        return {self._path: self._size}

    @property
    def crc32(self) -> dict[str, int]:
        """Path and CRC-32 of the file."""
        return {self._path: self._crc32}

    def updated(self, before: pa.Table, after: pa.Table) -> None:
        """Take rows in their old and new versions, in the same order."""
        self._add(UPDATED, after.column(RECORD_KEY), self._images(before), self._images(after))

    def inserted(self, after: pa.Table) -> None:
        """Take new rows."""
        self._add(INSERTED, after.column(RECORD_KEY), None, self._images(after))

    def deleted(self, before: pa.Table) -> None:
        """Take rows that are no more."""
        self._add(DELETED, before.column(RECORD_KEY), self._images(before), None)

    def replaced(self, removed: pa.Table, come: pa.Table) -> None:
        """Take rows that went and the rows that came for some of them, one for each of its key, in the same order."""
        stays = pc.is_in(removed.column(RECORD_KEY), value_set=come.column(RECORD_KEY).combine_chunks())
        self.updated(removed.filter(stays), come)
        self.deleted(removed.filter(pc.invert(stays)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._open.__exit__(kind, error, trace)
            return
        if self._entries or self._output is None:
            self._write_block()
        self._open.close()

    def _images(self, rows: pa.Table) -> Sequence[bytes]:
        return [] if self._mode is LoggingMode.OP_KEY_ONLY else encode(rows, self._images_json)

    def _add(self, operation: str, keys: pa.ChunkedArray, before: Sequence[bytes] | None, after: Sequence[bytes] | None) -> None:
        for entry in self._datums(operation, keys.to_pylist(), before, after):
            self._entries.append(entry)
            self._waiting += len(entry)
            if self._waiting >= self._block_bytes:
                self._write_block()

    def _datums(
        self, operation: str, keys: Iterable[str], before: Sequence[bytes] | None, after: Sequence[bytes] | None
    ) -> Iterator[bytes]:
        if self._mode is LoggingMode.OP_KEY_ONLY:  # its unions have the text first
            head = _NULL + prefix_length(operation.encode()) + _NULL
            return (head + prefix_length(key.encode()) for key in keys)
        head = _VALUE + prefix_length(operation.encode()) + _VALUE
        if self._mode is LoggingMode.DATA_BEFORE:
            return (head + prefix_length(key.encode()) + _image(before, number) for number, key in enumerate(keys))
        head += prefix_length(self._instant.encode())
        return (head + _image(before, number) + _image(after, number) for number, _ in enumerate(keys))

    def _write_block(self) -> None:
        if self._output is None:
            self._markers.create(self._storage, self._instant, self._path, MarkerType.CREATE)
            self._output = self._open.enter_context(self._storage.open_output(self._path))
        block = encode_block(BlockType.CDC, self._header, encode_avro_content(self._entries))
        self._output.write(block)
        self._size, self._crc32 = self._size + len(block), zlib.crc32(block, self._crc32)
        self._entries, self._waiting = [], 0


def _image(images: Sequence[bytes] | None, number: int) -> bytes:
    return _NULL if images is None else _VALUE + images[number]


def _data_json(avro_json: str) -> str:
    """Return a schema without its meta fields."""
    record = json.loads(avro_json)
    return json.dumps({**record, "fields": [field for field in record["fields"] if not is_meta_column(field["name"])]})
