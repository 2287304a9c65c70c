"""Rows that bring along where their records live: an UPDATE or DELETE has just read them, so no index is asked.

Rules: the operations `upsert_prepped` and `delete_prepped`. The file group of a row must be as it was when the row was
read, or another write came between and the statement has to be run again: whoever runs it repeats it whole.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import KeyFieldError, WriteConflictError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.rows import TaggedRows, deletes_of, join_rows
from pyhudi.kernels.merge.dedupe import last_of_each_key
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.visibility import Visibility
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.write.input.prepare_rows import require_columns
from pyhudi.write.input.split_by_partition import split_by_partition, split_rows

LOCATION_COLUMNS = (RECORD_KEY, PARTITION_PATH, FILE_NAME)


def tag_deletes(data: pa.Table, slice_index: SliceIndex) -> list[TaggedRows]:
    """Return deletes of the located records, by where they go."""
    return _tag_slices(_by_slice(deletes_of(data.column(RECORD_KEY)), data, slice_index))


def tag_updates(keyed: pa.Table, data: pa.Table, slice_index: SliceIndex, *, keep_all: bool = False) -> list[TaggedRows]:
    """Return new versions of the located records, by where they go.

    Args:
        keyed: the rows with the record key and partition path that their new values give.
        data: the same rows, with the record key, partition path and file name they were read with.
        slice_index: the table's files.
        keep_all: keep rows of one key apart, for a caller that looks at them.

    Raises:
        KeyFieldError: a row's record key has changed.
    """
    changed = pc.not_equal(keyed.column(RECORD_KEY), data.column(RECORD_KEY))
    if pc.any(changed).as_py():
        old, new = (rows.column(RECORD_KEY).filter(changed)[0] for rows in (data, keyed))
        raise changed_key(slice_index.view.config, old, new)
    reduced = dict if keep_all else _last_of_each_key
    stays = pc.equal(keyed.column(PARTITION_PATH).cast(pa.string()), data.column(PARTITION_PATH).cast(pa.string()))
    if pc.all(stays).as_py():
        return _tag_slices(reduced(_by_slice(keyed.drop_columns([PARTITION_PATH]), data, slice_index)))
    arriving, left = keyed.filter(pc.invert(stays)), data.filter(pc.invert(stays))
    updates = reduced(_by_slice(keyed.filter(stays).drop_columns([PARTITION_PATH]), data.filter(stays), slice_index))
    for file_slice, deletes in _by_slice(deletes_of(left.column(RECORD_KEY)), left, slice_index).items():
        updates[file_slice] = join_rows([updates[file_slice], deletes]) if file_slice in updates else deletes
    return _tag_slices(updates, {part.partition_path: part.rows for part in split_by_partition(arriving)})


def changed_key(config: TableConfig, old: object, new: object) -> KeyFieldError:
    """Return the error for a record whose new values give another record key."""
    return KeyFieldError(
        f"table {config.name}: the record key '{old}' would become '{new}'; a record keeps its key. Delete the record and insert it again."
    )


def _by_slice(rows: pa.Table, data: pa.Table, slice_index: SliceIndex) -> dict[FileSlice, pa.Table]:
    """Return the rows by the file slice that holds them; `data` holds partition path and file name of each."""
    require_columns(data.schema, LOCATION_COLUMNS, "a meta column", slice_index.view.config)
    labels = pc.binary_join_element_wise(data.column(PARTITION_PATH).cast(pa.string()), data.column(FILE_NAME).cast(pa.string()), "/")
    parts_by_slice: dict[FileSlice, list[pa.Table]] = {}
    for label, part in split_rows(rows, labels):
        partition_path, _, name = label.rpartition("/")
        parts_by_slice.setdefault(slice_index.slice_of(partition_path, name), []).append(part)
    return {file_slice: join_rows(parts) for file_slice, parts in parts_by_slice.items()}


def _last_of_each_key(updates: dict[FileSlice, pa.Table]) -> dict[FileSlice, pa.Table]:
    """Leave one new version of each record: a table that was inserted into may hold a key twice, and both rows were
    read.
    """
    return {file_slice: last_of_each_key(rows) for file_slice, rows in updates.items()}


class SliceIndex:
    """The file slices of a table by what located rows say of themselves.

    Args:
        view: the table's files.
        read_snapshot: the commits that the rows were read with; None when unknown, which base files alone then have to tell.
    """

    def __init__(self, view: FileSystemView, read_snapshot: Visibility | None) -> None:
        self.view = view
        self._slices: dict[str, dict[str, FileSlice]] = {}
        self._written_since = {} if read_snapshot is None else groups_written_since(view, read_snapshot)

    def knows(self, partition_path: str, file_id: str) -> bool:
        """Tell whether a file group of this id is there now."""
        return file_id in self._of_partition(partition_path)

    def slice_of(self, partition_path: str, name: str) -> FileSlice:
        """Return the slice that a located row was read from; `name` is that of a base file, or of a log's row the bare file id.

        Raises:
            WriteConflictError: the group was written since; names who did.
        """
        file_id, _, rest = name.partition("_")
        file_slice = self._of_partition(partition_path).get(file_id)
        is_live = file_slice is not None and (not rest or (file_slice.base is not None and str(file_slice.base.name) == name))
        group = FileGroupId(partition_path, file_id)
        if file_slice is None or not is_live or group in self._written_since:
            winner = self._written_since.get(group)
            who = "another write" if winner is None else f"{winner.action} {winner.requested}"
            raise WriteConflictError(
                f"{who} of table {self.view.storage.uri} completed between reading and writing, and changed file group {file_id} in"
                f" '{partition_path}', rows of which had been read from '{name}'. Nothing was written; run the statement again, on top of"
                " what the table holds now."
            )
        return file_slice

    def _of_partition(self, partition_path: str) -> dict[str, FileSlice]:
        """Return the newest slices of a partition by file id."""
        if partition_path not in self._slices:
            self._slices[partition_path] = {file_slice.group.file_id: file_slice for file_slice in self.view.latest_slices(partition_path)}
        return self._slices[partition_path]


def groups_written_since(view: FileSystemView, read_snapshot: Visibility) -> dict[FileGroupId, Instant]:
    """Return the file groups that commits wrote or replaced which `read_snapshot` does not show, those of commits too that were archived
    since, and the last commit of each.
    """
    archive = view.timeline.archive
    archived = () if archive is None else (one for one in archive.instants(read_snapshot.archive_boundary or "") if one.action.writes_data)
    return {
        group: instant
        for instant in (*archived, *view.timeline.data_instants())
        if not read_snapshot.is_visible(instant.requested)
        for group in _groups_of(load_commit_metadata(view.storage, view.config, view.timeline, instant))
    }


def _groups_of(commit: CommitMetadata) -> Iterator[FileGroupId]:
    """Yield the file groups that a commit wrote, and those that it replaced."""
    for path, stats in commit.stats.items():
        yield from (FileGroupId(path, stat.file_id) for stat in stats if stat.file_id)
    for path, replaced in (commit.replaced or {}).items():
        yield from (FileGroupId(path, file_id) for file_id in replaced)


def _tag_slices(updates: dict[FileSlice, pa.Table], inserts: dict[str, pa.Table] | None = None) -> list[TaggedRows]:
    inserts = inserts or {}
    paths = sorted({file_slice.group.partition_path for file_slice in updates} | set(inserts))
    empty = next(iter((*updates.values(), *inserts.values())), pa.table({})).slice(0, 0)
    return [
        TaggedRows(
            path,
            tuple((file_slice, rows) for file_slice, rows in updates.items() if file_slice.group.partition_path == path),
            inserts.get(path, empty),
        )
        for path in paths
    ]
