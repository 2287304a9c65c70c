"""Numbers of older files as the floats and doubles of today, converted inside of the reader of a scan (`java/hudi/WidenedFormat.java`).

The files of a scan may have their columns in several forms. A hidden partition column tells the form of each file: 0 where it has the
types of the scan, and otherwise the number of one of the structs that the format is given, which hold the columns with other types.
Design: docs/design/0187-options-of-reads-and-casts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql.types import IntegerType, StructField, StructType

from pyhudi.spark.jvm.spark_types import spark_type

#: The hidden partition column of a scan of files in several forms.
FORM: Final = StructField("_pyhudi_form", IntegerType(), nullable=False)
#: Types that Spark's reader itself reads as others. It reads decimals as wider ones, too, which are no fixed pairs.
NATIVE: Final = frozenset({(pa.int32(), pa.int64()), (pa.int32(), pa.float64()), (pa.binary(), pa.string()), (pa.string(), pa.binary())})
#: The types of columns that are converted inside of the reader.
_CONVERTED: Final = frozenset(
    {(pa.float32(), pa.float64()), (pa.int64(), pa.float64()), (pa.int32(), pa.float32()), (pa.int64(), pa.float32())}
)


def is_converted(stored: pa.DataType, table: pa.DataType) -> bool:
    """Tell whether the reader converts all that differs between the type of a column in files and that of the table."""
    if stored.equals(table):
        return True
    if pt.is_nested(stored) and stored.id == table.id and stored.num_fields == table.num_fields:
        pairs = ((stored.field(index).type, table.field(index).type) for index in range(table.num_fields))
        return all(is_converted(old, new) for old, new in pairs)
    return (stored, table) in _CONVERTED


def structs_of_forms(forms: Sequence[Sequence[pa.DataType]], columns: pa.Schema) -> StructType:
    """Return what the format is given for the types of the columns in each form, that of form 1 first."""
    return StructType([StructField(str(number), _narrower(types, columns)) for number, types in enumerate(forms, 1)])


def _narrower(types: Sequence[pa.DataType], columns: pa.Schema) -> StructType:
    """Return the columns that files have in narrower types."""
    pairs = zip(columns, types, strict=True)
    return StructType([StructField(field.name, spark_type(kind, field.name)) for field, kind in pairs if field.type != kind])
