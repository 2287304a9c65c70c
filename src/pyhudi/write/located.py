"""Rows that bring along where their records live: an UPDATE or DELETE has just read them, so no index is asked.

Rules: the operations `upsert_prepped` and `delete_prepped`. The file that a row was read from must still be the newest
of its group, or another write came between and the statement has to be run again.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import ConflictError, KeyFieldError
from pyhudi.fsview.view import FileSystemView
from pyhudi.index.rows import TaggedRows, deletes_of, join_rows
from pyhudi.kernels.dedupe import combine
from pyhudi.merge.mode import MergeMode
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.file_group import BaseFile
from pyhudi.write.prepare import require_columns
from pyhudi.write.split import split_by_partition, split_rows

LOCATION_COLUMNS = (RECORD_KEY, PARTITION_PATH, FILE_NAME)


def tag_deletes(data: pa.Table, view: FileSystemView) -> list[TaggedRows]:
    """Return deletes of the located records, by where they go."""
    return _tagged(_by_file(deletes_of(data.column(RECORD_KEY)), data, view))


def tag_updates(keyed: pa.Table, data: pa.Table, view: FileSystemView) -> list[TaggedRows]:
    """Return new versions of the located records, by where they go.

    Args:
        keyed: the rows with the record key and partition path that their new values give.
        data: the same rows, with the record key, partition path and file name they were read with.
        view: the table's files.

    Raises:
        KeyFieldError: a row's record key has changed.
    """
    changed = pc.not_equal(keyed.column(RECORD_KEY), data.column(RECORD_KEY))
    if pc.any(changed).as_py():
        old, new = (rows.column(RECORD_KEY).filter(changed)[0] for rows in (data, keyed))
        raise KeyFieldError(f"The record key '{old}' would become '{new}'; a record keeps its key. Delete the record and insert it anew.")
    stays = pc.equal(keyed.column(PARTITION_PATH).cast(pa.string()), data.column(PARTITION_PATH).cast(pa.string()))
    if pc.all(stays).as_py():
        return _tagged(_last_of_each_key(_by_file(keyed.drop_columns([PARTITION_PATH]), data, view)))
    moved, left = keyed.filter(pc.invert(stays)), data.filter(pc.invert(stays))
    updates = _last_of_each_key(_by_file(keyed.filter(stays).drop_columns([PARTITION_PATH]), data.filter(stays), view))
    for file, deletes in _by_file(deletes_of(left.column(RECORD_KEY)), left, view).items():
        updates[file] = join_rows([updates[file], deletes]) if file in updates else deletes
    return _tagged(updates, {part.partition_path: part.rows for part in split_by_partition(moved)})


def _by_file(rows: pa.Table, data: pa.Table, view: FileSystemView) -> dict[BaseFile, pa.Table]:
    """Return the rows by the base file that holds them; `data` holds partition path and file name of each."""
    require_columns(data.schema, LOCATION_COLUMNS, "a meta column", view.config)
    labels = pc.binary_join_element_wise(data.column(PARTITION_PATH).cast(pa.string()), data.column(FILE_NAME).cast(pa.string()), "/")
    found: dict[BaseFile, pa.Table] = {}
    for label, part in split_rows(rows, labels):
        partition_path, _, name = label.rpartition("/")
        found[newest_file(view, partition_path, name)] = part
    return found


def _last_of_each_key(updates: dict[BaseFile, pa.Table]) -> dict[BaseFile, pa.Table]:
    """Leave one new version of each record: a table that was inserted into may hold a key twice, and both rows were
    read.
    """
    return {file: combine(rows, (), MergeMode.COMMIT_TIME_ORDERING) for file, rows in updates.items()}


def newest_file(view: FileSystemView, partition_path: str, name: str) -> BaseFile:
    """Return the base file that a located row was read from.

    Raises:
        ConflictError: it is not the newest of its group any more.
    """
    for file in view.latest_base_files(partition_path):
        if str(file.name) == name:
            return file
    raise ConflictError(
        f"file '{name}' in partition '{partition_path}' of table {view.storage.uri} is not the newest of its group any more: another write "
        "came between reading and writing. Nothing was written; run the statement again."
    )


def _tagged(updates: dict[BaseFile, pa.Table], inserts: dict[str, pa.Table] | None = None) -> list[TaggedRows]:
    inserts = inserts or {}
    paths = sorted({file.partition_path for file in updates} | set(inserts))
    empty = next(iter((*updates.values(), *inserts.values())), pa.table({})).slice(0, 0)
    return [
        TaggedRows(
            path,
            tuple((file, rows) for file, rows in updates.items() if file.partition_path == path),
            inserts.get(path, empty),
        )
        for path in paths
    ]
