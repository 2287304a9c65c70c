"""The row groups of a base file that a rewrite can copy as bytes, and their rows where it cannot."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.cache import cached_property
from pyhudi.codec.parquet.copied_source import CODECS, ParquetSource
from pyhudi.codec.parquet.footer_reader import FooterReader
from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY, RecordContext, WriterSettings
from pyhudi.kernels.base_file.file_rows import FileRows, scan
from pyhudi.kernels.base_file.iter_rows import NO_CONSTANTS, row_query
from pyhudi.kernels.base_file.parquet_input import check_entries, corrupt_as_error, open_parquet
from pyhudi.kernels.base_file.parquet_output import encoded
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, META_FIELDS, RECORD_KEY
from pyhudi.spec.files.bootstrap_source import is_skeleton

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

#: A smaller file is rewritten in less time than it takes to look at its row groups.
COPIED_FILE_BYTES: Final = 4 << 20
#: A file of so many bytes is read at once before its row groups are copied, which takes one request to an object store.
_READ_AT_ONCE: Final = 8 << 20
#: A row group with less rows than this share of the largest one is always rewritten, so that it grows together with new rows.
_SMALL_SHARE: Final = 0.25


class StoredGroups:
    """The row groups of one open base file, all of which may be copied to a new file of the table."""

    def __init__(self, storage: Storage, base: BaseFile, context: RecordContext, file: pa.NativeFile, source: ParquetSource) -> None:
        self.source, self.rows = source, source.group_rows
        self.storage, self.base = storage, base
        self._context, self._path, self._file = context, base.path, file

    @cached_property
    def _parquet(self) -> pq.ParquetFile:
        """The file for Arrow, which a copy of whole row groups does without."""
        with corrupt_as_error(self.storage, self._path):
            return pq.ParquetFile(
                self._file, read_dictionary=[COMMIT_TIME], coerce_int96_timestamp_unit="us", page_checksum_verification=True
            )

    @cached_property
    def _file_rows(self) -> FileRows:
        context = self._context
        columns = [COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, *context.schema.names]
        query = row_query(
            context.schema,
            columns,
            None,
            meta_columns=False,
            dictionaries=[COMMIT_TIME],
            without=None,
            constants=NO_CONSTANTS,
            verify=True,
        )
        return FileRows(self.storage, self._path, query.needed, query.projection, None, None, NO_CONSTANTS)

    @property
    def full_groups(self) -> list[int]:
        """The numbers of the row groups that are large enough to be copied."""
        least = max(self.rows) * _SMALL_SHARE
        return [number for number, rows in enumerate(self.rows) if rows >= least and rows]

    def key_bounds(self) -> tuple[str, str] | None:
        """Return least and greatest record key as the footer states them, None where it does not.

        Raises:
            CorruptTableError: the entries of the footer are damaged.
        """
        entries = self.source.entries()
        check_entries(entries, self.storage, self._path)
        if FOOTER_MIN_KEY not in entries or FOOTER_MAX_KEY not in entries:
            return None
        with corrupt_as_error(self.storage, self._path):
            return str(entries[FOOTER_MIN_KEY], "utf-8"), str(entries[FOOTER_MAX_KEY], "utf-8")

    def keys(self, number: int) -> pa.ChunkedArray:
        """Return the record keys of a row group."""
        with corrupt_as_error(self.storage, self._path):
            return _keys_of(self._parquet, number, self.source.what)

    def first_keys(self, number: int, count: int) -> pa.ChunkedArray:
        """Return up to `count` record keys of a row group, the first ones."""
        with corrupt_as_error(self.storage, self._path):
            for batch in self._parquet.iter_batches(count, row_groups=[number], columns=[RECORD_KEY], use_threads=False):
                return pa.chunked_array([batch.column(0)])
        return pa.chunked_array([], pa.string())

    def has_columns_of(self, context: RecordContext) -> bool:
        """Tell whether the file has the columns of a new file, in their order and of their types."""
        stored = self._parquet.schema.to_arrow_schema()
        return [(field.name, field.type) for field in stored] == [(field.name, field.type) for field in (*META_FIELDS, *context.schema)]

    def batches(self, number: int) -> Iterator[pa.Table]:
        """Yield the rows of a row group: the data, and the meta columns that a rewrite retains."""
        with corrupt_as_error(self.storage, self._path):
            for batch in scan(self._parquet, [number], self._file_rows, None):
                yield pa.Table.from_batches([batch])


@contextmanager
def open_groups(storage: Storage, base: BaseFile, context: RecordContext, settings: WriterSettings) -> Iterator[StoredGroups | None]:
    """Open the row groups of a base file for as long as the block lasts; None where they cannot be copied to a new file of the table.

    A file can be copied if it has several row groups, was written with the schema, the codec and the version of Arrow that a new file is
    written with, and has meta columns.

    Raises:
        CorruptTableError: the file is damaged or missing.
    """
    if base.size < COPIED_FILE_BYTES or context.virtual_key is not None or is_skeleton(base.name.instant):
        yield None
        return
    with corrupt_as_error(storage, base.path):
        stream = storage.open_input(base.path)
    with stream:  # and not within `corrupt_as_error`, which would take a full disk of the new file for a damaged one
        stored = _stored_groups(storage, base, context, stream, FooterReader())
        template = encoded(context.file_schema.empty_table(), settings)
        is_copied = stored is not None and len(stored.rows) > 1 and stored.source.can_be_copied_to(template, CODECS[settings.compression])
        yield stored if is_copied else None


@contextmanager
def open_joined(storage: Storage, base: BaseFile, context: RecordContext, footers: FooterReader) -> Iterator[StoredGroups | None]:
    """Open the row groups of a base file that is joined with others; None where its rows have to be read by a schema of its own.

    Whether the row groups can be copied to a file is for `ParquetSource.can_be_copied_to` to tell.

    Raises:
        CorruptTableError: the file is damaged or missing.
    """
    if is_skeleton(base.name.instant):
        yield None
        return
    with corrupt_as_error(storage, base.path):
        stream = storage.open_input(base.path)
    with stream:
        yield _stored_groups(storage, base, context, stream, footers)


def read_keys(storage: Storage, path: str, group: int) -> pa.ChunkedArray:
    """Return the record keys of a row group of a file.

    Raises:
        CorruptTableError: the file is damaged or missing.
    """
    with open_parquet(storage, path) as parquet:
        return _keys_of(parquet, group, _named(storage, path))


def copied_schema(storage: Storage, path: str, footers: FooterReader) -> Hashable:
    """Return what row groups that are copied to one file have in common: schema and library of their files.

    Raises:
        CorruptTableError: the file is damaged or missing.
    """
    with corrupt_as_error(storage, path), storage.open_input(path) as stream:
        size = stream.seek(0, os.SEEK_END)

        def read(offset: int, length: int) -> bytes:
            stream.seek(offset)
            return stream.read(length)

        return footers.identity(read, size, _named(storage, path))


def _named(storage: Storage, path: str) -> str:
    return f"file '{path}' of the table at {storage.uri}"


def _keys_of(parquet: pq.ParquetFile, group: int, what: str) -> pa.ChunkedArray:
    keys = parquet.read_row_group(group, columns=[RECORD_KEY]).column(0)
    if keys.null_count:
        raise CorruptTableError(f"{what} has a row without record key. Restore the file from a copy.")
    return keys


def _stored_groups(
    storage: Storage, base: BaseFile, context: RecordContext, stream: BinaryIO, footers: FooterReader
) -> StoredGroups | None:
    if alignment(context.schema, base.name.instant) is not None:
        return None
    what = _named(storage, base.path)

    def read(offset: int, length: int) -> Buffer:
        if not 0 <= offset <= offset + length <= size:
            raise CorruptTableError(
                f"{what} has {size} bytes, its metadata names {length} bytes at {offset}. Restore the file from a copy."
            )
        if whole is not None:
            return whole[offset : offset + length]
        with corrupt_as_error(storage, base.path):
            data: bytes = file.read_at(length, offset) if length else b""
        if len(data) != length:
            raise CorruptTableError(f"{what} ends before byte {offset + length}. Restore the file from a copy.")
        return data

    with corrupt_as_error(storage, base.path):
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        whole = memoryview(stream.read()) if size <= _READ_AT_ONCE else None
    file = pa.PythonFile(stream, mode="r") if whole is None else pa.BufferReader(whole)
    return StoredGroups(storage, base, context, file, ParquetSource.of(read, size, what, footers))
