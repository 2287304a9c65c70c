"""Which columns a table has as of a timeline.

Rules: `TableSchemaResolver`: the schema that the latest commit recorded, else the one that the table was created with,
else that of a base file.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.view import FileSystemView
from pyhudi.kernels.parquet_input import footer_entries, open_parquet
from pyhudi.schema.avro_arrow import arrow_to_avro, avro_to_arrow
from pyhudi.schema.meta_columns import without_meta_columns
from pyhudi.spec.file_group import BaseFile
from pyhudi.spec.table_config import TableConfig
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.payload import read_commit
from pyhudi.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """The data columns of a table, and the Avro text that its commits have for them."""

    columns: pa.Schema
    avro_json: str


def table_schema(storage: Storage, config: TableConfig, timeline: Timeline) -> StoredSchema:
    """Return the schema of the table's rows as of a timeline.

    Raises:
        CorruptTableError: neither a commit nor the table's properties nor a base file has one.
    """
    stored = _stored_schema(storage, config, timeline)
    if not config.drop_partition_columns:
        return stored
    # Files and commits leave these columns out; Hudi puts them last, as texts, because a path holds nothing else.
    dropped = [name for name in config.partition_fields if name not in stored.columns.names]
    columns = pa.schema([*stored.columns, *(pa.field(name, pa.string()) for name in dropped)])
    return StoredSchema(columns, stored.avro_json)


def _stored_schema(storage: Storage, config: TableConfig, timeline: Timeline) -> StoredSchema:
    recorded = _recorded(storage, config, timeline) or config.create_schema_json
    if recorded is not None:
        return StoredSchema(without_meta_columns(avro_to_arrow(recorded)), recorded)
    newest = _newest_base_file(FileSystemView(storage, config, timeline))
    if newest is None:
        raise CorruptTableError(
            f"table {storage.uri} does not say which columns it has: no commit and no base file yet, and"
            " hoodie.table.create.schema is missing from .hoodie/hoodie.properties"
        )
    return _of_base_file(storage, config, newest)


def _recorded(storage: Storage, config: TableConfig, timeline: Timeline) -> str | None:
    for instant in reversed(timeline.data_instants()):
        recorded = read_commit(storage, config, instant).schema_json
        if recorded is not None:
            return recorded
    return None


def _newest_base_file(view: FileSystemView) -> BaseFile | None:
    files = (file for path in view.partition_paths() for file in view.latest_base_files(path))
    return max(files, key=lambda file: file.name.instant, default=None)


def _of_base_file(storage: Storage, config: TableConfig, file: BaseFile) -> StoredSchema:
    with open_parquet(storage, file.path) as parquet:
        recorded = footer_entries(parquet).get("parquet.avro.schema")
        columns = without_meta_columns(avro_to_arrow(recorded) if recorded else parquet.schema_arrow)
    return StoredSchema(columns, arrow_to_avro(columns, config.name))
