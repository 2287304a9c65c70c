"""Writes one base file: meta columns and data, in row groups of bounded size, with Hudi's entries in the footer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.parquet.footer_edit import without_bounds
from pyhudi.kernels.arrays.byte_size import byte_size, rows_of_bytes
from pyhudi.kernels.arrays.event_times import EventTimes
from pyhudi.kernels.arrays.leaf_columns import columns_with_nan
from pyhudi.kernels.base_file.base_file import (
    FOOTER_AVRO_SCHEMA,
    FOOTER_BLOOM_FILTER,
    FOOTER_BLOOM_TYPE,
    FOOTER_CRC,
    FOOTER_MAX_KEY,
    FOOTER_MIN_KEY,
    RecordContext,
    WriterSettings,
    footer_crc,
)
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.key_range import KeyRange
from pyhudi.kernels.base_file.meta_column_writer import without_identity
from pyhudi.kernels.base_file.parquet_output import open_writer
from pyhudi.schema.meta_columns import RECORD_KEY


class BaseFileWriter:
    """Collects rows into row groups and writes them to one open file.

    The file is finished when the `with` block ends; when it ends with an error the file is no Parquet file.
    """

    def __init__(self, output: BinaryIO, context: RecordContext, settings: WriterSettings, keys: KeyFilter | None) -> None:
        self._output = _Output(output)
        self._context = context
        self._settings = settings
        self._schema = context.file_schema
        self._filter = keys
        self._writer: pq.ParquetWriter | None = None
        self._groups = 0
        self._unbounded: dict[int, set[str]] = {}
        self._waiting: list[pa.Table] = []
        self._waiting_bytes = 0
        self._keys = KeyRange()
        self._has_stored_range = False
        self.event_times = None if context.event_time_field is None else EventTimes(context.event_time_field)
        self.rows = 0

    def append(self, rows: pa.Table, *, known_keys: bool = False) -> None:
        """Add rows of `context.file_schema`; whole row groups are written at once, the rest waits.

        `known_keys` says that the bloom filter, taken over from the file before, holds their keys already.
        """
        if rows.num_rows == 0:
            return
        if self._context.virtual_key is not None:
            rows = without_identity(rows)
        self._take_keys(rows.column(RECORD_KEY), known_keys=known_keys)
        if self.event_times is not None:
            self.event_times.extend(rows)
        group_bytes = self._settings.row_group_bytes
        rows_per_group = rows_of_bytes(rows, group_bytes)
        for start in range(0, rows.num_rows, rows_per_group):
            part = rows.slice(start, rows_per_group)
            self._waiting.append(part)
            self._waiting_bytes += byte_size(part)
            if self._waiting_bytes >= group_bytes:
                self._write_group(whole=False)

    def take_stored_range(self, bounds: tuple[str, str]) -> None:
        """Take the least and the greatest key of the file before into the range; rows of known keys say nothing more of it then."""
        self._keys.include(*bounds)
        self._has_stored_range = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            if self._writer is not None:
                # Or, after an error, its finalizer would write a footer to a file that is closed by then.
                self._writer.is_open = False

    def _take_keys(self, keys: pa.ChunkedArray, *, known_keys: bool) -> None:
        """Count rows, and take their keys into filter and range."""
        if self._filter is not None:
            self._filter.add(keys, stored=known_keys)
        self.rows += len(keys)
        if self._context.virtual_key is None and not (known_keys and self._has_stored_range):
            self._keys.extend(keys)

    def _finish(self) -> None:
        """Write the rows that wait and the footer."""
        if self._waiting or self._writer is None:
            self._write_group(whole=True)
        assert self._writer is not None
        self._writer.add_key_value_metadata(self._footer())
        if not self._unbounded:
            self._writer.close()
            return
        with self._output.held() as end:
            self._writer.close()
        self._output.write(without_bounds(end.getvalue(), self._unbounded))

    def _write_group(self, *, whole: bool) -> None:
        """Write the rows that wait; `whole` says that the file ends with them."""
        # One dictionary for the whole row group: pages fall back to plain text where it changes.
        group = pa.concat_tables(self._waiting or [self._schema.empty_table()]).unify_dictionaries()
        self._waiting, self._waiting_bytes = [], 0
        if self._writer is None:
            self._writer = open_writer(self._output, self._schema, self._settings, group, indexed=not whole)
        elif with_nan := columns_with_nan(group):
            self._unbounded[self._groups] = with_nan
        if group.num_rows:
            self._writer.write_table(group, row_group_size=group.num_rows)
            self._groups += 1

    def _footer(self) -> dict[str, str]:
        entries = {FOOTER_AVRO_SCHEMA: self._context.avro_schema_json}
        if self._filter is not None:
            entries[FOOTER_BLOOM_FILTER] = self._filter.encode()
            if "DYNAMIC" in self._filter.type_code:
                entries[FOOTER_BLOOM_TYPE] = self._filter.type_code
            if self._keys.least is not None and self._keys.greatest is not None:
                entries[FOOTER_MIN_KEY] = self._keys.least
                entries[FOOTER_MAX_KEY] = self._keys.greatest
        return {**entries, FOOTER_CRC: footer_crc(entries)}


class _Output(io.RawIOBase):
    """An open file whose end can be held back to be changed."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._end: io.BytesIO | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # pyarrow passes bytes
        return (self._output if self._end is None else self._end).write(data)

    @contextmanager
    def held(self) -> Iterator[io.BytesIO]:
        """Collect what is written in the block instead of writing it."""
        self._end = io.BytesIO()
        try:
            yield self._end
        finally:
            self._end = None
