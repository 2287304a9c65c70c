"""The Arrow schema of a DataFrame's rows, without running anything."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the schema that the DataFrame's rows have when they cross into Python; timestamps are in UTC."""
    return pa.schema(to_arrow_schema(frame.schema))
