"""Types of Spark columns as a Hudi table keeps them: lengths of texts are not kept, small integers become INT."""

from __future__ import annotations

import json
import re
from typing import Final

from pyspark.sql.types import StructType

_STORED_AS: Final = (
    (re.compile(r'"(type|elementType|keyType|valueType)":"(?:var)?char\(\d+\)"'), r'"\1":"string"'),
    (re.compile(r'"(type|elementType|keyType|valueType)":"(?:byte|short)"'), r'"\1":"integer"'),
)


def to_stored_type(schema: StructType) -> StructType:
    """Return the schema with the types that a Hudi table keeps."""
    text = schema.json()
    for pattern, retained in _STORED_AS:
        text = pattern.sub(retained, text)
    return StructType.fromJson(json.loads(text))
