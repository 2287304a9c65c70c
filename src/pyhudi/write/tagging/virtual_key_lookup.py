"""Where the records of a MERGE are in a table with virtual keys: rows that were read do not say, they are looked up by their keys.

Rules: `SimpleKeyGenerator` makes the keys of such tables again whenever they are needed (`hoodie.populate.meta.fields=false`).
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import ConflictError
from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import KeyLookup, LookupContext
from pyhudi.index.live_records import mark_live, of_live_records
from pyhudi.index.rows import key_array
from pyhudi.schema.field_paths import head_column
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.write.input.prepare_rows import keyed_deletes
from pyhudi.write.input.split_by_partition import split_by_partition
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS

#: Begins the names of columns that hold what a record had in its key and partition columns when it was read.
OLD_PREFIX: Final = "_pyhudi_old_"
_ROW: Final = "_pyhudi_row"


def holds_old_names(schema: pa.Schema) -> bool:
    """Tell whether rows say by old values of key and partition columns which records they change."""
    return any(name.startswith(OLD_PREFIX) for name in schema.names)


def with_location(data: pa.Table, lookup: LookupContext, instant: str) -> pa.Table:
    """Return rows with record key, partition path and file id of the records that they change, in place of the old values.

    Args:
        data: rows with old values, all null in rows that change no record.
        lookup: what an index may ask.
        instant: the write's requested time.

    Raises:
        ConflictError: a record is not there any more.
    """
    config = lookup.view.config
    old = pa.table({name: data.column(OLD_PREFIX + name) for name in config.naming_columns})
    rows = data.drop_columns([OLD_PREFIX + name for name in old.schema.names])
    keys = (old.column(head_column(field)) for field in config.record_key_fields)
    stored = functools.reduce(pc.or_, [pc.is_valid(column) for column in keys])
    named = keyed_deletes(old.filter(stored), lookup.context.incoming_schema, config, instant)
    matches = _find_locations(named.append_column(_ROW, pa.array(np.flatnonzero(stored))), lookup)
    location = matches.select(LOCATION_COLUMNS)
    changing = rows.take(matches.column(_ROW))
    for name in LOCATION_COLUMNS:
        changing = changing.append_column(name, location.column(name))
    return pa.concat_tables([changing, rows.filter(pc.invert(stored))], promote_options="default")


def _find_locations(named: pa.Table, lookup: LookupContext) -> pa.Table:
    """Return record key, partition path, file id and row, one for each location of the record of a row."""
    parts = split_by_partition(named)
    key_lookups = [KeyLookup(key_array(part.rows), part.partition_path) for part in parts]
    is_live = functools.partial(mark_live, lookup)
    schema = pa.schema([*((name, pa.string()) for name in LOCATION_COLUMNS), (_ROW, pa.int64())])
    tables = [schema.empty_table()]
    for part, one, hits in zip(parts, key_lookups, KeyScan().locate(key_lookups, lookup), strict=True):
        missing = np.ones(part.rows.num_rows, bool)
        for hit in of_live_records(hits, one.keys, is_live):
            mask = hit.rows.is_valid()
            missing &= ~mask.to_numpy(zero_copy_only=False)
            rows = part.rows.filter(mask)
            indices = {PARTITION_PATH: part.partition_path, FILE_NAME: hit.file_slice.group.file_id}
            columns = {name: pa.repeat(pa.scalar(text), rows.num_rows) for name, text in indices.items()}
            tables.append(pa.table({RECORD_KEY: rows.column(RECORD_KEY), **columns, _ROW: rows.column(_ROW)}, schema=schema))
        if missing.any():
            key = one.keys.filter(pa.array(missing))[0]
            raise ConflictError(
                f"the record '{key}' in partition '{part.partition_path}' of table {lookup.storage.uri} is not there any more: another"
                " write came between reading and writing. Nothing was written; run the statement again."
            )
    return pa.concat_tables(tables)
