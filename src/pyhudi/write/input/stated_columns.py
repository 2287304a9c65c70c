"""The columns that `hoodie.write.schema` states for the data of a write.

Rules: `HoodieWriteConfig.WRITE_SCHEMA_OVERRIDE`, observed with Apache Hudi 1.2.0: the data are stored in the columns and types of this
Avro schema; columns that it does not have are left out, narrower values are cast, and what the data lack or cannot be cast to is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from pyhudi.errors import CorruptTableError, OptionError, SchemaError
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.meta_columns import IS_DELETED, is_meta_column, without_meta_columns
from pyhudi.schema.storable import storable_schema
from pyhudi.schema.widen import widen_type
from pyhudi.spec.options import Options

WRITE_SCHEMA: Final = "hoodie.write.schema"


def stated_columns(options: Options) -> pa.Schema | None:
    """Return the data columns that the options of a write state, None where they state none.

    Raises:
        OptionError: the text is no Avro schema of a record.
        UnsupportedError: the schema holds a type that no table can have.
    """
    text = options.get(WRITE_SCHEMA)
    if text is None or not text.strip():
        return None
    try:
        columns = without_meta_columns(avro_to_arrow(text))
    except CorruptTableError as error:
        raise OptionError(f"{WRITE_SCHEMA} is no Avro schema of a record: give its JSON, such as that of a commit. {error}") from error
    if not columns.names:
        raise OptionError(f"{WRITE_SCHEMA} states no columns.")
    return columns


def retained_columns(names: Iterable[str], stated: pa.Schema) -> list[str]:
    """Return the names of the data's columns that are written: those that are stated, regardless of case, and meta columns.

    Raises:
        SchemaError: the data mark deletes in a column that is not stated; without it these records would be written.

    Example:
        >>> retained_columns(["ID", "name"], pa.schema({"id": pa.int64()}))
        ['ID']
    """
    known = {name.lower() for name in stated.names}
    given = list(names)
    if IS_DELETED in given and IS_DELETED not in known:
        raise SchemaError(
            f"The data have the column '{IS_DELETED}', and {WRITE_SCHEMA} does not state it: add it, or drop it from the data."
        )
    return [name for name in given if is_meta_column(name) or name.lower() in known]


def stated_schema(data: pa.Schema, stated: pa.Schema | None) -> pa.Schema:
    """Return the columns and types that data of this schema are written with; `data` itself where nothing is stated,
    or the data have no columns.

    Raises:
        SchemaError: the data lack a column that is stated, or its type does not hold their values; names the column.

    Example:
        >>> stated_schema(pa.schema({"id": pa.int32(), "name": pa.string()}), pa.schema({"id": pa.int64()})).field("id").type
        DataType(int64)
    """
    if stated is None or not data.names:
        return data
    by_name = {field.name.lower(): field for field in storable_schema(data)}
    for field in stated:
        match = by_name.get(field.name.lower())
        if match is None:
            raise SchemaError(f"The data lack the column '{field.name}', which {WRITE_SCHEMA} states; they have {', '.join(data.names)}.")
        if not widen_type(field.type, match.type, field.name).equals(field.type):
            raise SchemaError(
                f"Column '{field.name}' has type {match.type} in the data, and {WRITE_SCHEMA} states {field.type}, which does not hold"
                " it. Cast the data, or state the wider type."
            )
    return pa.schema([field.with_nullable(True) for field in stated])
