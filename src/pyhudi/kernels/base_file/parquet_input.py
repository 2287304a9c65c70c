"""Opens the Parquet files of a table for reading, and turns what is wrong with them into errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.kernels.base_file.base_file import FOOTER_CRC, footer_crc

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: Pages that carry a CRC are compared with it; those of other writers may have none.
_VERIFYING = ds.ParquetFragmentScanOptions(page_checksum_verification=True)


@contextmanager
def corrupt_as_error(storage: Storage, path: str) -> Iterator[None]:
    """Turn Arrow's errors over a file's bytes into a `CorruptTableError` that names table and file."""
    try:
        yield
    except HudiError:
        raise
    except FileNotFoundError as error:
        raise CorruptTableError(
            f"File '{path}' of the table at {storage.uri} belongs to a commit, but is not there: it was deleted "
            "by hand, or cleaned while it was read (then read again)."
        ) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as error:
        raise CorruptTableError(f"File '{path}' of the table at {storage.uri} cannot be read: {error}") from error


@contextmanager
def open_parquet(storage: Storage, path: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for as long as the block lasts; only its footer is read at once.

    Raises:
        CorruptTableError: the file is no whole Parquet file, or it is not there.
    """
    with corrupt_as_error(storage, path), storage.open_input(path) as source:
        yield pq.ParquetFile(source, page_checksum_verification=True)


def has_footer(storage: Storage, path: str) -> bool:
    """Tell whether a file is there and has the footer of a Parquet file; its pages are not read."""
    try:
        with open_parquet(storage, path):
            return True
    except CorruptTableError:
        return False


@contextmanager
def open_fragment(storage: Storage, path: str) -> Iterator[ds.ParquetFileFragment]:
    """Open a Parquet file for scans, which read row groups side by side; only its footer is read at once.

    Raises:
        CorruptTableError: the file is no whole Parquet file, or it is not there.
    """
    with open_pages(storage, path) as (fragment, _):
        yield fragment


@contextmanager
def open_pages(storage: Storage, path: str) -> Iterator[tuple[ds.ParquetFileFragment, pa.PythonFile]]:
    """Open a Parquet file for scans, and for reading bytes at offsets between them; errors as in `open_fragment`."""
    with corrupt_as_error(storage, path), storage.open_input(path) as stream:
        source = pa.PythonFile(stream, mode="r")  # one for all readers: a reading at an offset is two steps, which it keeps together
        yield ds.ParquetFileFormat(default_fragment_scan_options=_VERIFYING).make_fragment(source), source


def footer_entries(file: pq.ParquetFile | ds.ParquetFileFragment, storage: Storage, path: str) -> dict[str, str]:
    """Return the key-value entries of the footer of the file `path`.

    Raises:
        CorruptTableError: they are not what their checksum says.
    """
    entries = {key.decode(): value.decode() for key, value in (file.metadata.metadata or {}).items()}
    check_entries(entries, storage, path)
    return entries


def check_entries(entries: Mapping[str, str | Buffer], storage: Storage, path: str) -> None:
    """Compare the key-value entries of the footer of the file `path`, which have been read, with their checksum.

    Raises:
        CorruptTableError: they are not what it says.
    """
    if FOOTER_CRC not in entries:
        return
    crc = footer_crc(entries)
    if entries[FOOTER_CRC] not in (crc, crc.encode()):
        raise CorruptTableError(
            f"File '{path}' of the table at {storage.uri} is damaged: the entries of its footer, such as bloom filter and key range, do"
            " not have the checksum that was written with them. Restore the file from a copy."
        )
