"""The rows of a large base file that a filter by record keys can mean, by the column of the record keys.

The answer is cached by file (`kernels/keys/key_answers.py`), so that the write which often follows does not look for the same keys again.
A filter on a key column stands for record keys only in a file whose row groups have the same bounds in that column and in
`_hoodie_record_key`: what a file holds is not taken from the properties of the table.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyhudi.errors import HudiError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.kernels.keys.key_kernels import record_keys
from pyhudi.kernels.keys.key_probe import rows_of_keys
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.read.filter.condition import And, Column, Condition, In
from pyhudi.read.filter.point_predicates import implied_keys
from pyhudi.read.skipping.key_lookup import key_fields_of
from pyhudi.schema.meta_columns import RECORD_KEY, with_meta_columns
from pyhudi.spec.files.bootstrap_source import is_skeleton

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.spec.table.table_config import TableConfig
    from pyhudi.storage.storage_protocol import Storage

#: A smaller file is read as fast as it is searched.
_FILE_BYTES: Final = 4 << 20
#: Of more keys the files are read: what a search finds would not be cached.
_MOST_KEYS: Final = 100_000


def keys_meant(condition: Condition, schema: pa.Schema, config: TableConfig) -> tuple[pa.StringArray, str] | None:
    """Return record keys, one of which each row has that a filter lets pass, and the column that says so.

    None where the filter does not name keys, or the table stores none. The column is `_hoodie_record_key`, or the only key column, of text.
    """
    if not config.populate_meta_fields:
        return None
    stated = implied_keys(condition, with_meta_columns(schema), None)
    if stated is not None:
        return _array(stated), RECORD_KEY
    if (many := _many_values(condition, RECORD_KEY)) is not None:
        return many, RECORD_KEY
    key = _key_column(schema, config)
    if key is None:
        return None
    (name,) = key.key_fields
    by_column = implied_keys(condition, schema, key)
    if by_column is not None:
        return _array(by_column), name
    return None if (many := _many_values(condition, name)) is None else (many, name)


def keys_in_column(name: str, values: pa.Array, schema: pa.Schema, config: TableConfig) -> tuple[pa.StringArray, str] | None:
    """Return what `keys_meant` does for rows that have one of some values in a column, however many these are.

    Args:
        name: the column.
        values: its values, without nulls.
        schema: the columns of the table.
        config: its properties.
    """
    if not config.populate_meta_fields:
        return None
    if name == RECORD_KEY:
        return pc.unique(values), RECORD_KEY
    key = _key_column(schema, config)
    if key is None or key.key_fields != (name,):
        return None
    distinct = pc.unique(values)
    try:
        return record_keys(pa.table({name: distinct}), key), name
    except HudiError:
        return None  # no record has such a key; what the filter says of the column is true all the same


def _key_column(schema: pa.Schema, config: TableConfig) -> KeyFields | None:
    """Return how keys are made if that is of one column of text alone, whose bare values they are."""
    key = key_fields_of(config)
    if key is None or key.is_composite or len(key.key_fields) != 1:
        return None
    (name,) = key.key_fields
    return key if name in schema.names and pa.types.is_string(schema.field(name).type) else None


def rows_meant(storage: Storage, file: BaseFile, keys: pa.StringArray, column: str) -> Indices | None:
    """Return the rows of a base file, ascending, that hold one of the keys; None where the file is to be searched by its columns.

    Arguments and errors are those of `keyed_rows_meant`.
    """
    matches = keyed_rows_meant(storage, file, keys, column)
    return None if matches is None else matches[0]


def keyed_rows_meant(storage: Storage, file: BaseFile, keys: pa.StringArray, column: str) -> tuple[Indices, Indices] | None:
    """Return the rows of a base file, ascending, that hold one of the keys, and for each the number of its key.

    None where the file is to be searched by its columns.

    Args:
        storage: the table's storage.
        file: the base file.
        keys: distinct record keys.
        column: the column by which the keys were stated.

    Raises:
        CorruptTableError: the file is damaged or missing.
    """
    if file.size < _FILE_BYTES or is_skeleton(file.name.instant):
        return None
    if column != RECORD_KEY:
        with open_parquet(storage, file.path) as parquet:
            if not _have_equal_bounds(parquet.metadata, column):
                return None
    return rows_of_keys(storage, file, keys)


def _many_values(condition: Condition, name: str) -> pa.StringArray | None:
    """Return the distinct strings one of which a column has wherever the condition is true, of a list too long for `implied_keys`."""
    match condition:
        case In(operand, values, _) if operand == Column((name,), pa.string()) and len(values) <= _MOST_KEYS:
            return pc.unique(values) if pa.types.is_string(values.type) else None
        case And(parts):
            return next((values for part in parts if (values := _many_values(part, name)) is not None), None)
    return None


def _array(keys: Collection[str]) -> pa.StringArray:
    return pa.array(sorted(keys), pa.string())


def _have_equal_bounds(metadata: pq.FileMetaData, column: str) -> bool:
    """Tell whether a column and the record key have the same bounds, without nulls, in each row group."""
    numbers = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    if column not in numbers or RECORD_KEY not in numbers:
        return False
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        ours, keys = (group.column(numbers[name]).statistics for name in (column, RECORD_KEY))
        if ours is None or keys is None or not ours.has_min_max or not keys.has_min_max or ours.null_count or keys.null_count:
            return False
        if (ours.min_raw, ours.max_raw) != (keys.min_raw, keys.max_raw):
            return False
    return True
