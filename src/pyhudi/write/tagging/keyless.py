"""Upserts and deletes of a table without record key: rows that were read from it name their records by the meta columns that they bring.

Rules: `HoodieSparkSqlWriter.canDoPreppedWrites`, auto key generation. Apache Hudi trusts the file name that a row brings; here the key is
looked up, as that of a table with a record key is: the record may have been moved by clustering since, or deleted, or be another table's. A
row whose record is not there is refused, where Apache Hudi adds it under the key that it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import KeyFieldError, UnsupportedError
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.live_records import live_rows
from pyhudi.index.rows import TaggedRows, deletes_of, join_tagged, key_array
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.keys.key_kernels import key_columns
from pyhudi.keygen.choose_generator import KeyGenerator
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.input.split_by_partition import split_by_partition

#: What a row must bring to name its record.
NAMING_COLUMNS = (RECORD_KEY, PARTITION_PATH)


def names_records(operation: Operation, config: TableConfig) -> bool:
    """Tell whether the rows of an operation have to name stored records by their meta columns."""
    return operation in (Operation.UPSERT, Operation.DELETE) and not config.record_key_fields


def require_naming_columns(names: Iterable[str], operation: Operation, config: TableConfig) -> None:
    """Refuse rows that do not bring meta columns by which records are found.

    Raises:
        KeyFieldError: says which column is missing and what to do.
    """
    missing = [name for name in NAMING_COLUMNS if name not in set(names)]
    if not missing:
        return
    instead = "insert() adds rows" if operation is Operation.UPSERT else "delete(where=...) removes rows by a condition"
    raise KeyFieldError(
        f"Table {config.name} has no record key, and the data lack {' and '.join(missing)}: nothing says which rows they"
        f" {_verb(operation)}."
        f" Read the rows with meta_columns=True (Spark shows these columns in any case), change them and write them back; {instead}."
        " Nothing was written."
    )


def named_rows(data: pa.Table, columns: pa.Schema, operation: Operation, config: TableConfig) -> pa.Table:
    """Return the rows in the columns of the table, or for a delete as deletes, with the record key and partition path that they bring.

    Raises:
        KeyFieldError: a meta column is missing, is no text, or holds nulls.
        SchemaError: a value does not fit its column.
    """
    require_naming_columns(data.column_names, operation, config)
    names = {name: _as_text(data.column(name), name) for name in NAMING_COLUMNS}
    unnamed = max(column.null_count for column in names.values())
    if unnamed:
        raise unnamed_rows(unnamed, operation, config)
    if operation is Operation.DELETE:
        return deletes_of(names[RECORD_KEY]).append_column(PARTITION_PATH, names[PARTITION_PATH])
    rows = conform(data, columns)
    return rows.add_column(0, PARTITION_PATH, names[PARTITION_PATH]).add_column(0, RECORD_KEY, names[RECORD_KEY])


def tag_named_updates(
    keyed: pa.Table, generator: KeyGenerator, tag: Callable[[pa.Table], list[TaggedRows]], lookup: LookupContext
) -> list[TaggedRows]:
    """Return new versions of stored records by where they go; those whose partition changes leave the one that they are in.

    Args:
        keyed: the rows with the record key and partition path that they bring, one of each record.
        generator: gives the partition path of a row's values.
        tag: looks keyed rows up.
        lookup: what an index may ask.

    Raises:
        KeyFieldError: a record is not there.
        UnsupportedError: a record would leave earlier versions behind, of which the table fills it.
    """
    paths = pa.chunked_array([key_columns(keyed.drop_columns(list(NAMING_COLUMNS)), generator)[1].cast(pa.string())])
    moves = pc.not_equal(keyed.column(PARTITION_PATH), paths)
    leaving = keyed.filter(moves)
    if not leaving.num_rows:
        return _all_known(tag(keyed), lookup)
    refuse_moves(lookup.context)
    left = deletes_of(leaving.column(RECORD_KEY)).append_column(PARTITION_PATH, leaving.column(PARTITION_PATH))
    index = keyed.schema.get_field_index(PARTITION_PATH)
    arrived = split_by_partition(leaving.set_column(index, PARTITION_PATH, paths.filter(moves)))
    _all_known(tag(leaving), lookup)
    parts = [*_all_known(tag(keyed.filter(pc.invert(moves))), lookup), *tag(left)]
    parts += [TaggedRows(part.partition_path, (), part.rows) for part in arrived]
    by_path: dict[str, list[TaggedRows]] = {}
    for part in parts:
        by_path.setdefault(part.partition_path, []).append(part)
    return [join_tagged(tagged) for _, tagged in sorted(by_path.items())]


def refuse_moves(context: RecordContext) -> None:
    """Refuse rows whose partition changes where a row is made of several versions.

    Raises:
        UnsupportedError: the table is such a one.
    """
    if context.mixes_versions:
        raise UnsupportedError(
            f"Table {context.name} makes rows of several versions, and a row would move to another partition, away from its "
            "earlier versions:"
            " that is not served. Delete the row and insert it again."
        )


def unnamed_rows(count: int, operation: Operation, config: TableConfig) -> KeyFieldError:
    """Return the error of rows whose meta columns are null."""
    return KeyFieldError(
        f"Table {config.name} has no record key, and in {count} rows {RECORD_KEY} or {PARTITION_PATH} is null: nothing says which rows they"
        f" {_verb(operation)}. Write new rows apart, by insert(). Nothing was written."
    )


def unknown_record(key: object, path: str, config: TableConfig) -> KeyFieldError:
    """Return the error of a row whose record is not in the table."""
    return KeyFieldError(
        f"Table {config.name} has no record '{key}' in partition '{path}': it was deleted since the row was read, or the row was read from"
        " another table. Nothing was written. insert() adds rows as new ones, whatever meta columns they bring (in Spark the option"
        " hoodie.datasource.write.operation=insert)."
    )


def _verb(operation: Operation) -> str:
    return "update" if operation is Operation.UPSERT else "delete"


def _all_known(tagged: list[TaggedRows], lookup: LookupContext) -> list[TaggedRows]:
    """Return the rows once all of them have their record in the table, also where logs may have deleted it."""
    for part in tagged:
        unknown = [part.inserts.column(RECORD_KEY)]
        for file_slice, rows in part.updates:
            if file_slice.logs:
                live = live_rows(lookup, file_slice, key_array(rows), ()).column(RECORD_KEY).combine_chunks()
                unknown.append(rows.column(RECORD_KEY).filter(pc.invert(pc.is_in(rows.column(RECORD_KEY), value_set=live))))
        if any(len(keys) for keys in unknown):
            raise unknown_record(next(keys[0] for keys in unknown if len(keys)), part.partition_path, lookup.view.config)
    return tagged


def _as_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise KeyFieldError(f"The meta column {name} has type {column.type} in the data, and is a text: {error}") from error
