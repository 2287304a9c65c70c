"""Which columns a table has as of a timeline.

Rules: `TableSchemaResolver`: the schema that the latest commit recorded, else the one that the table was created with, else that of a base
file; after these, here, that of the newest archived commit. Where `hoodie.schema.on.read.enable` was ever on, columns have numbers, and
the history of the schema comes with the columns (`pyhudi.schema.internal.schema_history`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.parquet_input import footer_entries
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.schema.avro_arrow import arrow_to_avro, avro_to_arrow
from pyhudi.schema.internal.as_json import from_json, history_from_json
from pyhudi.schema.internal.internal_schema import InternalSchema
from pyhudi.schema.internal.schema_history import SchemaHistory, reconciled, with_history
from pyhudi.schema.meta_columns import without_meta_columns
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.extra_metadata import LATEST_SCHEMA, WRITER_KEY
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import instant_path, load_commit_metadata, load_extra_metadata
from pyhudi.timeline.schema_files import read_schema_file
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import read_rows


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """The data columns of a table, with the history of its schema when it has one, and the Avro text that its commits have for them."""

    columns: pa.Schema
    avro_json: str


def table_schema(
    storage: Storage, config: TableConfig, timeline: Timeline, latest: CommitMetadata | None = None, *, is_past: bool = False
) -> StoredSchema:
    """Return the schema of the table's rows as of a timeline; `latest` is what its last commit says, where that was read already.

    The properties are compared with the newest note of the commits (`check_notes`), since every read and write comes by here;
    `is_past` says that the timeline ends before that of now.

    Raises:
        CorruptTableError: no commit, base file or property of the table has one, or the properties are not those of the commit.
    """
    stored = _stored_schema(storage, config, timeline, latest, is_past=is_past)
    if not config.drop_partition_columns:
        return stored
    # Files and commits leave these columns out; Hudi puts them last, as strings, unless the table was made with a type for them.
    dropped = [name for name in config.partition_fields if name not in stored.columns.names]
    in_paths = (pa.field(name, _type_in_paths(config, name)) for name in dropped)
    return StoredSchema(pa.schema([*stored.columns, *in_paths], metadata=stored.columns.metadata), stored.avro_json)


def _type_in_paths(config: TableConfig, name: str) -> pa.DataType:
    """Return the type in which a column that is in paths only is shown: that of the statement that made the table, if strings tell it."""
    made = None if config.create_schema_json is None else avro_to_arrow(config.create_schema_json)
    kind = made.field(name).type if made is not None and name in made.names else pa.string()
    return kind if comes_back_from_paths(kind) else pa.string()


def comes_back_from_paths(kind: pa.DataType) -> bool:
    """True when a column of this type that files leave out is read from paths as it was written; others come back as strings."""
    return bool(pt.is_string(kind) or pt.is_integer(kind) or pt.is_date(kind) or pt.is_boolean(kind))


def _stored_schema(
    storage: Storage, config: TableConfig, timeline: Timeline, latest: CommitMetadata | None, *, is_past: bool
) -> StoredSchema:
    recorded_schema = _recorded(storage, config, timeline, latest)
    check_notes(storage, config, timeline, recorded_schema and recorded_schema[:2], is_past=is_past)
    if recorded_schema is not None:
        instant, commit, recorded = recorded_schema
        try:
            columns = without_meta_columns(avro_to_arrow(recorded))
        except CorruptTableError as error:
            raise CorruptTableError(f"'{instant_path(config, instant)}' of table {storage.uri}: {error}") from error
        return StoredSchema(with_history(columns, _history(storage, config, timeline, instant, commit, columns)), recorded)
    if config.create_schema_json is not None:
        return StoredSchema(without_meta_columns(avro_to_arrow(config.create_schema_json)), config.create_schema_json)
    newest = _newest_base_file(FileSystemView(storage, config, timeline))
    if newest is not None:
        return _of_base_file(storage, config, newest)
    archived = _archived(storage, config, timeline)
    if archived is None:
        raise CorruptTableError(
            f"table {storage.uri} does not say which columns it has: no commit, active or archived, and no base file does, and"
            " hoodie.table.create.schema is missing from .hoodie/hoodie.properties"
        )
    return archived


def _archived(storage: Storage, config: TableConfig, timeline: Timeline) -> StoredSchema | None:
    """Return the schema that the newest archived commit recorded: of a table whose rows are all gone, and that was made without one.

    A timeline that ends before all of them takes the newest, as tables do that were empty then.
    """
    archive = archived_instants(storage, config, read_rows)
    matches = [(one.instant, one.metadata) for one in archive if one.metadata is not None and one.metadata.schema_json]
    committed = [one for one in matches if timeline.is_committed(one[0].requested)] or matches
    if not committed:
        return None
    instant, commit = committed[-1]
    recorded = commit.schema_json or ""
    columns = without_meta_columns(avro_to_arrow(recorded))
    return StoredSchema(with_history(columns, _history(storage, config, timeline, instant, commit, columns)), recorded)


def _recorded(
    storage: Storage, config: TableConfig, timeline: Timeline, latest: CommitMetadata | None
) -> tuple[Instant, CommitMetadata, str] | None:
    """Return the newest commit that states a schema, with its extra metadata alone where they are read here, and the schema."""
    for instant in reversed(timeline.data_instants()):
        commit = latest or CommitMetadata(extra_metadata=load_extra_metadata(storage, config, timeline, instant))
        latest = None
        if commit.schema_json is not None:
            return instant, commit, commit.schema_json
    return None


def _history(
    storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant, commit: CommitMetadata, columns: pa.Schema
) -> SchemaHistory | None:
    """Return the history of a table whose latest commit with a schema is given; None when columns have no numbers.

    Apache Hudi's replacecommits do not repeat the version, so that the folder is asked then.
    """
    stated = commit.extra_metadata.get(LATEST_SCHEMA)
    if not stated and WRITER_KEY in commit.extra_metadata:
        return None
    text = read_schema_file(storage, timeline)
    if text is None and not stated:
        return None
    known = () if text is None else history_from_json(text)
    if stated:
        latest = from_json(stated)
        known = (*(schema for schema in known if schema.version != latest.version), latest)
    versions = tuple(sorted(known, key=lambda schema: schema.version))
    overlapping = _overlapping(storage, config, timeline, versions)
    history = SchemaHistory(versions, versions[-1], overlapping)
    current = history.at(instant.requested) if not stated else latest
    return reconciled(SchemaHistory(versions, current, overlapping), columns)


def _overlapping(storage: Storage, config: TableConfig, timeline: Timeline, versions: Sequence[InternalSchema]) -> dict[str, int]:
    """Return the version that commits wrote which began before a version was made and completed after it, as they state it."""
    result = {}
    if len(versions) > 1:  # the first one is older than all
        timeline = timeline.with_archived()
    for instant in timeline.data_instants():
        done = timeline.completion_time(instant.requested)
        between = (one for one in versions if done and int(instant.requested) < one.version < int(done))
        if next(between, None) is not None:
            stated = load_commit_metadata(storage, config, timeline, instant).extra_metadata.get(LATEST_SCHEMA)
            if stated:
                result[instant.requested] = from_json(stated).version
    return result


def _newest_base_file(view: FileSystemView) -> BaseFile | None:
    files = (file for path in view.partition_paths() for file in view.latest_base_files(path))
    return max(files, key=lambda file: file.name.instant, default=None)


def _of_base_file(storage: Storage, config: TableConfig, file: BaseFile) -> StoredSchema:
    with open_data(storage, file.path) as parquet:
        recorded = footer_entries(parquet, storage, file.path).get("parquet.avro.schema")
        columns = without_meta_columns(avro_to_arrow(recorded) if recorded else parquet.schema_arrow)
    return StoredSchema(columns, arrow_to_avro(columns, config.name))
