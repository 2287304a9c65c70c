"""File slices with logs in memory, made block by block."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.hfile.writer import HFileWriter
from pyhudi.codec.log.log_content import encode_avro_content, encode_deletes
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.codec.log.roaring_positions import encode_positions
from pyhudi.kernels.arrays.avro_rows import encode
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.log_file.ordering_types import ordering_types
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.write_task import WriteTask, run_write_task
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.schema.meta_columns import RECORD_KEY, with_meta_columns
from pyhudi.spec.files.delete_record import DeletedKeys
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import LogFileName
from pyhudi.spec.files.log_block import BlockHeader, BlockType
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.kernels.conftest import FIRST, SMALL_FILTER, base_of

Row = dict[str, Any]


@dataclass
class LoggedSlice:
    """A file slice: a base file when there are rows for one, and log files."""

    context: RecordContext
    storage: MemoryStorage = field(default_factory=MemoryStorage)
    base: BaseFile | None = None
    logs: list[LogFile] = field(default_factory=list)
    layout: int = 2
    visibility: Visibility = field(default_factory=lambda: Visibility(frozenset()))

    def write_base(self, rows: Sequence[Row], settings: WriterSettings = SMALL_FILTER) -> None:
        """Write rows, in their order; each holds `_hoodie_record_key`."""
        keyed = pa.Table.from_pylist(list(rows), schema=pa.schema([(RECORD_KEY, pa.string()), *self.context.schema]))
        task = WriteTask(FIRST, "", "f1-0", "0-1-2", None, append_only=True)
        self.base = base_of(run_write_task(self.storage, self.context, settings, task, keyed))

    def add_log(self, *blocks: bytes, instant: str = FIRST) -> None:
        """Append a log file of these blocks, by the instant that wrote it."""
        number = len(self.logs) + 1
        name = LogFileName("f1-0", instant, number, "0-1-2")
        data = b"".join(blocks)
        self.storage.create(str(name), data)
        self.logs.append(LogFile("", name, len(data)))

    def data_block(
        self,
        kind: BlockType,
        rows: Sequence[Row],
        *,
        columns: Sequence[str] | None = None,
        positions: Sequence[int] | None = None,
        **header: Any,
    ) -> bytes:
        """Return a block of these rows, of some columns when they are named."""
        full = with_meta_columns(self.context.schema)
        schema = pa.schema([one for one in full if columns is None or one.name.startswith("_hoodie_rec") or one.name in columns])
        avro = with_meta_fields(arrow_to_avro(schema, self.context.name))
        table = pa.Table.from_pylist(list(rows), schema=schema)
        known = self._positions(positions) | {"instant": FIRST, "schema_json": avro, "is_partial": columns is not None}
        return encode_block(kind, BlockHeader(**(known | header)), _content(kind, table, avro))

    def delete_block(self, deletes: Sequence[tuple[str, Any]], *, positions: Sequence[int] | None = None, instant: str = FIRST) -> bytes:
        """Return a block that deletes keys, each with its ordering value."""
        keys, values = [key for key, _ in deletes], [value for _, value in deletes]
        content = encode_deletes(DeletedKeys(tuple(keys), ("",) * len(keys), tuple(values)), ordering_types(self.context))
        return encode_block(BlockType.DELETE, BlockHeader(instant=instant, **self._positions(positions)), content)

    def task(self, **more: Any) -> SliceTask:
        """Return the task of merging the slice."""
        instant = FIRST if self.base is None else self.base.name.instant
        return SliceTask(FileSlice(FileGroupId("", "f1-0"), instant, self.base, tuple(self.logs)), self.visibility, self.layout, **more)

    def _positions(self, positions: Sequence[int] | None) -> dict[str, Any]:
        if positions is None:
            return {}
        assert self.base is not None
        return {"positions": encode_positions(positions), "positions_of": self.base.name.instant}


def _content(kind: BlockType, table: pa.Table, avro: str) -> bytes:
    if kind is BlockType.PARQUET:
        sink = io.BytesIO()
        pq.write_table(table, sink)
        return sink.getvalue()
    records = encode(table, avro)
    if kind is BlockType.AVRO:
        return encode_avro_content(records)
    output = io.BytesIO()
    writer = HFileWriter(output, created_ms=0)
    for key, record in zip(table.column(RECORD_KEY).to_pylist(), records, strict=True):
        writer.append(key.encode(), record)
    writer.finish()
    return output.getvalue()
