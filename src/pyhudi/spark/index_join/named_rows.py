"""Rows of a DataFrame for a table without record key, by the meta columns that they bring.

The rules are those of `pyhudi.write.tagging.keyless`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.index.index_protocol import LookupContext
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.index_join.duplicate_keys import drop_deleted_duplicates
from pyhudi.spark.index_join.key_columns import refuse_unmade, with_keys, with_table_types
from pyhudi.spark.index_join.key_search import KeySearch
from pyhudi.spark.index_join.partition_updates import TaggedFrame, live_records, one_a_key
from pyhudi.spark.jvm.persistence import persisted_until
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.tagging.keyless import NAMING_COLUMNS, refuse_moves, require_naming_columns, unknown_record, unnamed_rows

_NEW_PATH: Final = "_pyhudi_new_path"
_PRESENT: Final = {RECORD_KEY: "_pyhudi_brought_key", PARTITION_PATH: "_pyhudi_brought_path"}


def named_frame(frame: DataFrame, columns: pa.Schema, operation: Operation, config: TableConfig) -> DataFrame:
    """Return record key and partition path that rows bring, and for an upsert the columns of the table.

    Raises:
        KeyFieldError: a meta column is missing or holds nulls.
    """
    require_naming_columns(frame.columns, operation, config)
    unnamed = frame.filter(F.col(RECORD_KEY).isNull() | F.col(PARTITION_PATH).isNull()).count()
    if unnamed:
        raise unnamed_rows(unnamed, operation, config)
    names = [pa.field(name, pa.string()) for name in NAMING_COLUMNS]
    return with_table_types(frame, pa.schema([*names, *(() if operation is Operation.DELETE else columns)]))


def locate_updates(named: DataFrame, search: KeySearch, instant: str) -> TaggedFrame:
    """Return new versions of stored records with the file group of each; those whose partition changes leave the one that they are in.

    Raises:
        KeyFieldError: a record is not there.
        UnsupportedError: a record would leave earlier versions behind, of which the table fills it.
    """
    config = search.lookup.view.config
    moves, new_paths = False, frozenset[str]()
    if config.partition_fields:
        named = persisted_until(search.persisted, _with_new_path(named, config, instant))
        new_paths = frozenset(row[0] for row in named.select(_NEW_PATH).distinct().collect())
        refuse_unmade(new_paths)
        moves = bool(named.filter(F.col(_NEW_PATH) != F.col(PARTITION_PATH)).take(1))
    if moves:
        refuse_moves(search.lookup.context)
        named = one_a_key(named, search.tagging, search.lookup)
    tagged = search.locate(named)
    rows = persisted_until(search.persisted, tagged.rows)
    if config.is_merge_on_read:
        rows = drop_deleted_duplicates(rows, search.lookup)
    for key, path in _unknown_records(rows, search.lookup).take(1):
        raise unknown_record(key, path, config)
    if not moves:
        return replace(tagged, rows=rows.drop(_NEW_PATH))
    return replace(tagged, rows=_route_moves(rows), paths=None if tagged.paths is None else tagged.paths | new_paths)


def _unknown_records(rows: DataFrame, lookup: LookupContext) -> DataFrame:
    """Return record key and partition path of the rows whose record is in no slice, or was deleted by the logs on top of it."""
    unknown = rows.filter(F.col(FILE_ID_COLUMN).isNull()).select(RECORD_KEY, PARTITION_PATH)
    if unknown.take(1) or (live := live_records(rows, lookup)) is None:
        return unknown
    return rows.select(RECORD_KEY, PARTITION_PATH).join(live, [PARTITION_PATH, RECORD_KEY], "left_anti").select(RECORD_KEY, PARTITION_PATH)


def _with_new_path(named: DataFrame, config: TableConfig, instant: str) -> DataFrame:
    """Add the partition path that the values of each row give now."""
    keyed = with_keys(named.withColumnsRenamed(_PRESENT), key_generator(config, instant=instant), instant)
    columns = {name: F.col(renamed) for name, renamed in _PRESENT.items()}
    return keyed.withColumn(_NEW_PATH, F.col(PARTITION_PATH)).withColumns(columns).drop(*_PRESENT.values())


def _route_moves(rows: DataFrame) -> DataFrame:
    """Return the rows; those whose partition changes become a delete in the old partition and a new record in the new one."""
    stays = F.col(_NEW_PATH) == F.col(PARTITION_PATH)
    unmoved = rows.filter(stays).withColumn(DELETE_COLUMN, F.lit(False))
    left = rows.filter(~stays).withColumn(DELETE_COLUMN, F.lit(True))
    nowhere = {PARTITION_PATH: F.col(_NEW_PATH), FILE_ID_COLUMN: F.lit(None).cast("string"), DELETE_COLUMN: F.lit(False)}
    return reduce(DataFrame.unionByName, (unmoved, left, rows.filter(~stays).withColumns(nowhere))).drop(_NEW_PATH)
