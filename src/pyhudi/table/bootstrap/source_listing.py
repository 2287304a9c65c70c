"""The Parquet files below a folder, by partition, and the columns that they have together.

Rules: `BootstrapUtils.getAllLeafFoldersWithFiles`. Names that begin with a dot or an underscore are left out, as Spark and Apache Hudi do,
unless they are those of partitions.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import CorruptTableError, SchemaError, UsageError
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error
from pyhudi.kernels.base_file.stitched_rows import named_values
from pyhudi.schema.evolve import check_fixed_columns, evolve
from pyhudi.schema.storable import storable_schema
from pyhudi.spec.files.bootstrap_source import BootstrapSource
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.partition_path import DEFAULT_PARTITION
from pyhudi.storage.local_storage import link_names
from pyhudi.storage.storage_protocol import FileStatus, Storage

_MAGIC: Final = b"PAR1"
_MOST_INT: Final = (1 << 31) - 1
#: Whole numbers of fewer characters are 64 bits at most.
_MOST_DIGITS: Final = 19


@dataclass(frozen=True, slots=True)
class SourceListing:
    """The source files by their folder, relative to the source, and the table's data columns."""

    partitions: Mapping[str, tuple[BootstrapSource, ...]]
    schema: pa.Schema


def list_source(storage: Storage, engine: Engine, key_fields: Sequence[str]) -> SourceListing:
    """Return the files below a folder; their footers are read.

    Args:
        storage: the folder.
        engine: reads the footers.
        key_fields: the record key and partition fields, whose types must be the same in all files.

    Raises:
        UsageError: there is no file, a file is not Parquet, or the folder is a Hudi table.
        SchemaError: the files have columns that do not fit each other, or that cannot be stored.
    """
    if storage.stat(".hoodie") is not None:
        raise UsageError(f"{storage.uri} is a Hudi table, and not a folder of plain Parquet files: nothing has to be bootstrapped.")
    files = sorted(_files(storage, ""))
    if not files:
        raise UsageError(f"{storage.uri} holds no Parquet file to bootstrap a table from, or is no folder.")
    schemas = engine.run(functools.partial(_footer_schema, storage), [file.path for file in files])
    schema = _common_schema(storage, dict(zip([file.path for file in files], schemas, strict=True)), key_fields)
    partitions: dict[str, list[BootstrapSource]] = {}
    for file in files:
        path = file.path.rpartition("/")[0]
        partitions.setdefault(path, []).append(BootstrapSource(_uri(storage, file.path), file.size, file.modified_ms, path))
    return SourceListing({path: tuple(some) for path, some in partitions.items()}, with_folder_columns(schema, partitions))


def _common_schema(storage: Storage, schemas: Mapping[str, pa.Schema], key_fields: Sequence[str]) -> pa.Schema:
    """Return the columns of all files; one allows no nulls when it is in each file and allows none in any.

    Raises:
        SchemaError: a file's columns do not fit those of the files before it.
    """
    merged: pa.Schema | None = None
    spelt: dict[str, str] = {}
    for path, columns in schemas.items():
        try:
            _check_case(columns.names, spelt)
            merged = evolve(merged, pa.schema([field.with_nullable(True) for field in columns]), are_cast=False)
        except SchemaError as error:
            reason = "becomes no table" if merged is None else "does not fit the files before it"
            raise SchemaError(f"file '{path}' of {storage.uri} {reason}: {error}") from error
    assert merged is not None, "there is a file"
    for path, columns in schemas.items():
        try:
            check_fixed_columns(storable_schema(columns), merged, key_fields, (), ())
        except SchemaError as error:
            raise SchemaError(f"file '{path}' of {storage.uri} does not fit the other files: {error}") from error
    required = [{field.name for field in columns if not field.nullable} for columns in schemas.values()]
    return pa.schema([field.with_nullable(not all(field.name in names for names in required)) for field in merged])


def _check_case(names: Iterable[str], spelt: dict[str, str]) -> None:
    """Note how names are spelt, by their lower case; a reader would find no column of the other spelling, and take it for missing.

    Raises:
        SchemaError: one was spelt otherwise.
    """
    for name in names:
        if (other := spelt.setdefault(name.lower(), name)) != name:
            raise SchemaError(f"column '{name}' is '{other}' in them; sources are read as they are: write both with the same case")


def _is_hidden(name: str) -> bool:
    """Tell whether a file or folder is no part of the source: not so a partition whose column begins with an underscore, or is null.

    Example:
        >>> [_is_hidden(name) for name in ("_SUCCESS", ".crc", "_day=1", "__HIVE_DEFAULT_PARTITION__")]
        [True, True, False, False]
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name and name != DEFAULT_PARTITION)


def _files(storage: Storage, folder: str) -> Iterator[FileStatus]:
    if name := next((name for name in link_names(storage, folder) if not _is_hidden(name)), None):
        raise UsageError(
            f"'{join_path(folder, name)}' of {storage.uri} is a link, and what it leads to may change: put the files themselves there, or"
            f" call it '_{name}'."
        )
    for status in storage.list(folder):
        if _is_hidden(status.name):
            continue
        if status.is_dir:
            yield from _files(storage, status.path)
        elif status.name.endswith(".parquet") and status.size:
            yield status
        else:
            raise UsageError(f"'{status.path}' of {storage.uri} is {_reason_against(storage, status)}.")


def _reason_against(storage: Storage, file: FileStatus) -> str:
    """Return what is wrong with a file of a source, and what to do; Hive gives its files no ending."""
    with storage.open_input(file.path) as source:
        if file.size and source.read(len(_MAGIC)) == _MAGIC:
            return "a Parquet file whose name does not end in '.parquet': give it a name that does"
    what = "an ORC file, and a bootstrap takes Parquet files only" if file.name.endswith(".orc") else "no Parquet file"
    return f"{what if file.size else 'empty'}: take it away, or call it '_{file.name}'"


def _footer_schema(storage: Storage, path: str) -> pa.Schema:
    try:
        with corrupt_as_error(storage, path), storage.open_input(path) as source:
            file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
            schema, leaves = file.schema_arrow.remove_metadata(), file.schema
    except CorruptTableError as error:
        raise UsageError(f"'{path}' of {storage.uri} is no Parquet file, or is damaged: {error}") from error
    stored = [leaves.column(number).physical_type for number in range(len(leaves))]
    if "INT96" not in stored:
        return schema
    of_leaves = iter(stored)
    return pa.schema([field.with_type(_with_instants(field.type, of_leaves)) for field in schema])


def _with_instants(arrow: pa.DataType, stored: Iterator[str]) -> pa.DataType:
    """Return a type with UTC in the timestamps that a file stores as INT96: Arrow reads them without, and Spark, which writes them, as
    instants. `stored` are the physical types of the columns that are left, in their order.
    """
    if pt.is_struct(arrow):
        return pa.struct([field.with_type(_with_instants(field.type, stored)) for field in arrow])
    if pt.is_map(arrow):
        key = _with_instants(arrow.key_type, stored)
        return pa.map_(key, arrow.item_field.with_type(_with_instants(arrow.item_type, stored)))
    if pt.is_nested(arrow):
        return pa.list_(arrow.value_field.with_type(_with_instants(arrow.value_type, stored)))
    return pa.timestamp("us", "UTC") if next(stored) == "INT96" else arrow


def with_folder_columns(schema: pa.Schema, folders: Iterable[str]) -> pa.Schema:
    """Return the columns with those that folders alone name (`day=2026-01-02`), last and typed by their values.

    Example:
        >>> with_folder_columns(pa.schema({"id": pa.int64()}), ["year=2025", "year=2026"]).field("year").type
        DataType(int32)
    """
    values: dict[str, list[str | None]] = {}
    for folder in folders:
        for name, text in named_values(folder).items():
            values.setdefault(name, []).append(text)
    known = {name.lower() for name in schema.names}
    added = pa.schema([pa.field(name, _type([text for text in strings if text is not None])) for name, strings in values.items()])
    # Appended, not evolved: no file lacks a column of `schema`, so one without nulls stays so.
    return pa.schema([*schema, *(field for field in added if field.name.lower() not in known)], metadata=schema.metadata)


def _type(strings: Sequence[str]) -> pa.DataType:
    """Return the type of strings: one that gives the same strings back."""
    if strings and all(_is_number(text) for text in strings):
        return pa.int32() if all(-_MOST_INT <= int(text) <= _MOST_INT for text in strings) else pa.int64()
    if strings and all(_is_date(text) for text in strings):
        return pa.date32()
    return pa.string()


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdecimal() and len(text) < _MOST_DIGITS and str(int(text)) == text


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _uri(storage: Storage, path: str) -> str:
    base = storage.uri.rstrip("/")
    return f"{base}/{path}" if "://" in base else f"file:{base}/{path}"
