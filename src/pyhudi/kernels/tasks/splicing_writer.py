"""Writes one base file of rows and of row groups that are copied from the file before, or from several files, as bytes.

Of a copied row group the column `_hoodie_file_name` alone is new: it has the name of the file that is written on every row.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import BinaryIO, Final

import pyarrow as pa

from pyhudi.codec.parquet.copied_source import ParquetSource
from pyhudi.codec.parquet.spliced_file import SplicedFile
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.meta_column_writer import constant
from pyhudi.kernels.base_file.parquet_output import encoded
from pyhudi.kernels.base_file.stored_groups import StoredGroups, read_keys
from pyhudi.schema.meta_columns import FILE_NAME

#: Row groups of one write have one or two numbers of rows.
_NAMES_MAX: Final = 16


class CopyingFileWriter(BaseFileWriter):
    """Writes row groups of new rows as `BaseFileWriter` does, in memory, and copies them and those of other files to the output.

    The file has the schema of `template`. Rows can be appended where that is the schema of new files.
    """

    def __init__(
        self,
        output: BinaryIO,
        context: RecordContext,
        settings: WriterSettings,
        keys: KeyFilter | None,
        template: ParquetSource,
        file_name: str,
    ) -> None:
        # Changed rows may take some more bytes than the rows before; a row group is not split for that.
        super().__init__(output, context, replace(settings, row_group_bytes=settings.row_group_bytes * 5 // 4), keys)
        self._file = SplicedFile(output, template)
        self._file_name = file_name
        self._name_column = None if context.virtual_key is not None else template.column_number(FILE_NAME)
        self._names: dict[int, ParquetSource] = {}

    def _copy(self, stored: StoredGroups, number: int) -> None:
        if self._waiting:
            self._write_group(whole=False)
        column = self._name_column
        self._file.add_group(stored.source, number, {} if column is None else {column: self._file_names(stored.rows[number])})

    def _file_names(self, rows: int) -> ParquetSource:
        """Return the column with the name of the file for so many rows; other row groups often have as many."""
        if rows not in self._names:
            names = pa.Table.from_arrays([constant(self._file_name, rows)], schema=pa.schema([self._schema.field(FILE_NAME)]))
            if len(self._names) == _NAMES_MAX:
                self._names.clear()
            self._names[rows] = encoded(names, self._settings)
        return self._names[rows]

    def _finish(self) -> None:
        if self._waiting:
            self._write_group(whole=False)
        self._file.finish(self._footer())

    def _write_group(self, *, whole: bool) -> None:  # noqa: ARG002 - every row group has a file of its own
        group = pa.concat_tables(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        if group.num_rows:
            self._file.add_group(encoded(group.unify_dictionaries(), self._settings), 0)


class SplicingFileWriter(CopyingFileWriter):
    """Writes the next version of a base file: row groups without changes are copied from the file before, `stored`."""

    def __init__(
        self,
        output: BinaryIO,
        context: RecordContext,
        settings: WriterSettings,
        keys: KeyFilter | None,
        stored: StoredGroups,
        file_name: str,
    ) -> None:
        super().__init__(output, context, settings, keys, stored.source, file_name)
        self._stored = stored

    def copy_group(self, number: int, keys: pa.ChunkedArray | None) -> None:
        """Copy a row group of the file before, whose bloom filter has its keys; they are None if the range does without them, too.

        Raises:
            CorruptTableError: it is damaged.
        """
        if keys is None:
            self.rows += self._stored.rows[number]
        else:
            self._take_keys(keys, known_keys=True)
        self._copy(self._stored, number)


class JoiningFileWriter(CopyingFileWriter):
    """Writes a new base file of the row groups of several others."""

    def join_group(self, stored: StoredGroups, number: int) -> None:
        """Copy a row group of an open file.

        Raises:
            CorruptTableError: it is damaged.
        """
        rows = stored.rows[number]
        if self._filter is None:  # the file has no range of keys, either
            self.rows += rows
        elif (bounds := stored.key_bounds()) is None:
            self._take_keys(stored.keys(number), known_keys=False)
        else:  # most files have more rows than a bloom filter takes, so that no key is read
            self._filter.add_later(rows, partial(read_keys, stored.storage, stored.base.path, number))
            self._keys.include(*bounds)
            self.rows += rows
        self._copy(stored, number)
