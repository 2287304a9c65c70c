"""The five meta columns that lead every record of a Hudi table.

Rules: Hudi technical specification, "Record metadata"; `HoodieRecord`. All are nullable UTF-8; `_hoodie_operation`,
the sixth, is only written by change-log writers and is known here so that it never counts as a column of the data.
"""

from __future__ import annotations

import pyarrow as pa

from pyhudi.errors import SchemaError, did_you_mean

COMMIT_TIME = "_hoodie_commit_time"
COMMIT_SEQNO = "_hoodie_commit_seqno"
RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
FILE_NAME = "_hoodie_file_name"
OPERATION = "_hoodie_operation"

META_COLUMNS = (COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME)

#: A boolean column of the data by which its owner marks records as deleted.
IS_DELETED = "_hoodie_is_deleted"

#: Begin the names that a column of the data cannot have; the second begins those of columns that accompany the data on their way to files.
_RESERVED = ("_hoodie_", "_pyhudi_")

META_FIELDS = tuple(pa.field(name, pa.string()) for name in META_COLUMNS)


def is_meta_column(name: str) -> bool:
    """True for the names that Hudi fills itself; `_hoodie_is_deleted` is the user's own."""
    return name in META_COLUMNS or name == OPERATION


def check_name(name: str) -> None:
    """Refuse a name for a new column of the data that is reserved, in any case, for columns that are not of the data.

    Raises:
        SchemaError: names the column.

    Example:
        >>> check_name("_pyhudi_score")
        Traceback (most recent call last):
        ...
        pyhudi.errors.SchemaError: Column '_pyhudi_score' has a reserved name: pyhudi uses columns that begin with '_pyhudi_'. Rename it.
    """
    reserved = next((prefix for prefix in _RESERVED if name.lower().startswith(prefix)), None)
    if reserved is not None and name != IS_DELETED:
        filler = "Hudi fills" if reserved == "_hoodie_" else "pyhudi uses"
        meant = did_you_mean(name, [IS_DELETED])
        raise SchemaError(f"Column '{name}' has a reserved name: {filler} columns that begin with '{reserved}'.{meant} Rename it.")


def without_meta_columns(schema: pa.Schema) -> pa.Schema:
    """Return the columns of the data alone, in their order."""
    return pa.schema([field for field in schema if not is_meta_column(field.name)])


def with_meta_columns(schema: pa.Schema) -> pa.Schema:
    """Return the schema of a base file: the five meta columns, then the columns of the data."""
    return pa.schema([*META_FIELDS, *without_meta_columns(schema)])
