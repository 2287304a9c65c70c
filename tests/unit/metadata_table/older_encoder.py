"""Records in the schema of a release before 1.0, which has no secondary indexes."""

from __future__ import annotations

import json

from pyhudi.codec.avro.avro_record import parse_avro_schema
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.schema.avro_arrow import with_meta_fields


def older_encoder() -> RecordEncoder:
    """Return an encoder of files, locations of records and bloom filters."""
    encoder = RecordEncoder(6)
    schema = json.loads(encoder.schema)
    schema["fields"].pop()
    encoder.schema = json.dumps(schema)
    encoder.file_schema = with_meta_fields(encoder.schema)
    encoder._parsed = parse_avro_schema(encoder.file_schema)
    return encoder
