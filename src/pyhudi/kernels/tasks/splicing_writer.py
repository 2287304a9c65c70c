"""Writes one base file of rows and of row groups that are copied from the file before as bytes.

Of a copied row group the column `_hoodie_file_name` alone is new: it has the name of the file that is written on every row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from pyhudi.codec.parquet.spliced_file import SplicedFile
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.meta_column_writer import constant
from pyhudi.kernels.base_file.parquet_output import encoded
from pyhudi.kernels.base_file.stored_groups import StoredGroups
from pyhudi.schema.meta_columns import FILE_NAME


class SplicingFileWriter(BaseFileWriter):
    """Writes row groups of new rows as `BaseFileWriter` does, in memory, and copies them and those of the file before to the output."""

    def __init__(
        self,
        output: BinaryIO,
        context: RecordContext,
        settings: WriterSettings,
        keys: KeyFilter | None,
        stored: StoredGroups,
        file_name: str,
    ) -> None:
        # Changed rows may take some more bytes than the rows before; a row group is not split for that.
        super().__init__(output, context, replace(settings, row_group_bytes=settings.row_group_bytes * 5 // 4), keys)
        self._file = SplicedFile(output, encoded(context.file_schema.empty_table(), settings))
        self._stored, self._file_name = stored, file_name

    def include_bounds(self, bounds: tuple[str, str]) -> None:
        """Take the least and the greatest key of the row groups that are copied into the range of the file."""
        self._keys.extend(pa.chunked_array([pa.array(bounds, pa.string())]))

    def copy_group(self, number: int, keys: pa.ChunkedArray | None) -> None:
        """Copy a row group of the file before, which has these keys; None if filter and range do without them.

        Raises:
            CorruptTableError: it is damaged.
        """
        if self._waiting:
            self._write_group(whole=False)
        count = self._stored.rows[number]
        if keys is None:
            self.rows += count
        else:
            self._take_keys(keys, known_keys=True)
        source = self._stored.source
        column = source.column_number(FILE_NAME)
        assert column is not None, "checked when the file was opened"
        names = pa.Table.from_arrays([constant(self._file_name, count)], schema=pa.schema([self._schema.field(FILE_NAME)]))
        self._file.add_group(source, number, {column: encoded(names, self._settings)})

    def _finish(self) -> None:
        if self._waiting:
            self._write_group(whole=False)
        self._file.finish(self._footer())

    def _write_group(self, *, whole: bool) -> None:  # noqa: ARG002 - every row group has a file of its own
        group = pa.concat_tables(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        if group.num_rows:
            self._file.add_group(encoded(group.unify_dictionaries(), self._settings), 0)
