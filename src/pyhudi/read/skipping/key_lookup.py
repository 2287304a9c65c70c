"""Which file groups hold the records that a filter can mean, by the record index and secondary indexes.

Rules: `RecordLevelIndexSupport`, `SecondaryIndexSupport`. A record index knows one place of a key. Rows that were inserted concurrently
with others with their key, or in a second partition, are in no index. So it is asked only where keys are proven to be unique: it has
as many keys as the table has rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError, HudiError, UnsupportedError
from pyhudi.index.bucket_numbers import names_buckets
from pyhudi.index.consistent_hashing import is_consistently_hashed
from pyhudi.keygen.choose_generator import key_fields
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.metadata_keys import is_servable, value_strings
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.read.filter.condition import Condition
from pyhudi.read.filter.point_predicates import column_named, implied_keys, implied_values
from pyhudi.read.skipping.file_statistics import base_rows
from pyhudi.read.skipping.partition_pruning import path_columns
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.extra_metadata import LOG_INSERTS_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.instant_details import find_commit_metadata

#: A value of a secondary index with more records than this says little: they are in nearly all file groups.
_MOST_RECORDS: Final = 1_000
#: Of so many tables is kept whether their keys are unique, each as of one commit.
_CACHED_TABLES: Final = 64


def keys_of_condition(
    table: MetadataTable, condition: Condition, schema: pa.Schema, config: TableConfig, warn: Callable[[str, Exception], None]
) -> tuple[set[str], str] | None:
    """Return record keys one of which each matching row has, with the index that tells; None when neither filter nor index does.

    A secondary index that cannot be asked is left out; `warn` is told its name and why.
    """
    if partitions.RECORD_INDEX not in table.partitions:
        return None
    stated = implied_keys(condition, schema, key_fields_of(config))
    if stated is not None:
        return stated, partitions.RECORD_INDEX
    in_paths = path_columns(schema, config)
    for name in table.partitions:
        definition = table.definitions.get(name)
        if definition is not None and name.startswith(partitions.SECONDARY_PREFIX) and in_paths.isdisjoint(definition.source_fields):
            try:
                record_keys = _secondary(table, definition, condition, schema)
            except (CorruptTableError, UnsupportedError) as error:
                warn(name, error)
                continue
            if record_keys is not None:
                return record_keys, name
    return None


def locate(table: MetadataTable, record_keys: Collection[str]) -> dict[str, set[str]]:
    """Return the file groups in which the record index has some keys, which must be unique, by partition path.

    Raises:
        CorruptTableError, UnsupportedError: the index cannot be asked.
    """
    groups: dict[str, set[str]] = {}
    for indices in table.record_locations(list(record_keys)).values():
        for index in indices:
            groups.setdefault(index.partition_path, set()).add(index.file_id)
    return groups


def has_unique_keys(snapshot: Snapshot, table: MetadataTable, *, at_any_price: bool = False) -> bool:
    """Tell whether the record index is proven to hold every row of a snapshot: as many keys as there can be rows.

    Reads statistics of all files once for each commit; not for a table of fewer file slices than the index has files, unless asked
    at any price.

    Raises:
        CorruptTableError, UnsupportedError: the index cannot be asked.
    """
    storage = snapshot.storage
    state = (snapshot.timeline.completed(), table.state)
    known = _UNIQUE.get(storage.uri)
    if known is None or known[0] != state or storage.uri.startswith("memory:"):
        slices = [file_slice for path in snapshot.partition_paths for file_slice in snapshot.slices(path)]
        if not at_any_price and len(slices) <= table.files_to_open(partitions.RECORD_INDEX):
            return False
        known = (state, _is_proven(snapshot, table, slices))
        _UNIQUE.put(storage.uri, known)
    return known[1]


_UNIQUE: LruCache[str, tuple[Any, bool]] = LruCache(_CACHED_TABLES)


def _is_proven(snapshot: Snapshot, table: MetadataTable, slices: Sequence[FileSlice]) -> bool:
    rows = base_rows(snapshot.storage, table, [file_slice for file_slice in slices if file_slice.base is not None])
    logged = _logged_inserts(snapshot, slices)
    if rows is None or logged is None:
        return False
    counted = table.count_keys(partitions.RECORD_INDEX)
    return counted is not None and counted >= rows + logged


def _logged_inserts(snapshot: Snapshot, slices: Sequence[FileSlice]) -> int | None:
    """Return how many rows log files can have added, as their commits say; None when one does not tell.

    Writes by buckets count rows that are new to a bucket among its updates.
    """
    logged = [file_slice for file_slice in slices if file_slice.logs]
    if names_buckets([one.group for one in logged]) or (logged and is_consistently_hashed(snapshot.storage, snapshot.config)):
        return None
    by_instant: dict[str, set[str]] = {}
    for file_slice in logged:
        for log in file_slice.logs:
            by_instant.setdefault(log.name.instant, set()).add(log.path)
    total = 0
    for requested, paths in by_instant.items():
        commit = (
            None if snapshot.config.layout == 1 else find_commit_metadata(snapshot.storage, snapshot.config, snapshot.timeline, requested)
        )
        if commit is None:
            return None
        inserts = {stat.path: stat.num_inserts for stat in commit.all_stats()}
        if commit.operation == Operation.LOG_COMPACT or LOG_INSERTS_KEY in commit.extra_metadata or not paths <= inserts.keys():
            return None
        total += sum(inserts[path] for path in paths)
    return total


def _secondary(table: MetadataTable, definition: IndexDefinition, condition: Condition, schema: pa.Schema) -> set[str] | None:
    """Return the keys of the records with the values that a filter leaves of an indexed column; None when it leaves all, or too many."""
    name = definition.source_fields[0] if len(definition.source_fields) == 1 else ""
    column = column_named(name, schema)
    if column is None or not _has_one_text_per_value(column.type):
        return None
    kind = column.type
    values = implied_values(condition, column)
    if values is None:
        return None
    known = pa.array([value for value in values if value.is_valid], kind)
    scan: Callable[[str], Any] = (
        table.partition(definition.name).scan_group if definition.version >= 2 else table.partition(definition.name).scan
    )
    record_keys: set[str] = set()
    for text in set(value_strings(pa.chunked_array([known]), name).to_pylist()):
        for key, _ in islice(scan(keys.secondary_prefix(text)), _MOST_RECORDS + 1):
            record_keys.add(keys.split_secondary_key(key)[1])
        if len(record_keys) > _MOST_RECORDS:
            return None
    return record_keys


def _has_one_text_per_value(kind: pa.DataType) -> bool:
    """Tell whether equal values have one text in the index: -0.0 and 0.0 have two."""
    return is_servable(kind) and not pa.types.is_floating(kind)


def key_fields_of(config: TableConfig) -> KeyFields | None:
    """Return how record keys come from columns; None when they do not, or nobody knows how."""
    try:
        return key_fields(config)
    except HudiError:
        return None
