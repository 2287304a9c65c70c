"""The five meta columns that lead every record of a Hudi table.

Rules: Hudi technical specification, "Record metadata"; `HoodieRecord`. All are nullable UTF-8; `_hoodie_operation`,
the sixth, is only written by change-log writers and is known here so that it never counts as a column of the data.
"""

from __future__ import annotations

import pyarrow as pa

COMMIT_TIME = "_hoodie_commit_time"
COMMIT_SEQNO = "_hoodie_commit_seqno"
RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
FILE_NAME = "_hoodie_file_name"
OPERATION = "_hoodie_operation"

META_COLUMNS = (COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME)

#: A boolean column of the data by which its owner marks records as deleted.
IS_DELETED = "_hoodie_is_deleted"

META_FIELDS = tuple(pa.field(name, pa.string()) for name in META_COLUMNS)


def is_meta_column(name: str) -> bool:
    """True for the names that Hudi fills itself; `_hoodie_is_deleted` is the user's own."""
    return name in META_COLUMNS or name == OPERATION


def without_meta_columns(schema: pa.Schema) -> pa.Schema:
    """Return the columns of the data alone, in their order."""
    return pa.schema([field for field in schema if not is_meta_column(field.name)])


def with_meta_columns(schema: pa.Schema) -> pa.Schema:
    """Return the schema of a base file: the five meta columns, then the columns of the data."""
    return pa.schema([*META_FIELDS, *without_meta_columns(schema)])
