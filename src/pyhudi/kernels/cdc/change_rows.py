"""What one commit did to one file group, as change data: what happened, when, and the images before and after as JSON strings.

Rules: `HoodieCDCExtractor`, `CDCFileGroupIterator`; docs/format/cdc.md#how-changes-are-derived. Where the commit logged no whole images,
the slice before and the slice after it are compared. A row is the same one in both when its key, commit time and sequence number are (with
virtual keys, when its key and all its values are); of rows of one key that are not, one that went and one that came make an update.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.row_identity import IDENTITY_COLUMNS, is_among, rows_without
from pyhudi.kernels.cdc.change_log import images, read_change_log
from pyhudi.kernels.cdc.row_json import json_rows
from pyhudi.kernels.keys.keyed_rows import iter_keyed_base
from pyhudi.kernels.log_file.log_rows import read_log_rows
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask, chosen_blocks
from pyhudi.schema.meta_columns import META_COLUMNS, RECORD_KEY
from pyhudi.spec.files.file_group import LogFile
from pyhudi.spec.table.cdc_mode import DELETED, INSERTED, UPDATED

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: The columns of change data. `ts_ms` is the requested time of the commit, as Hudi has it.
CHANGE_SCHEMA: Final = pa.schema([(name, pa.string()) for name in ("op", "ts_ms", "before", "after")])


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Find what the commit `instant` did to a file group.

    `before` is the group's slice before the commit, None when there was none; `after` the slice with it, None when the commit replaced
    the group. `logs` are the logs of changes that it wrote; they are read instead of `before`, and hold the images after unless
    `after` is given, too. `appended` says that the commit wrote log files only, which name the keys that changed.
    """

    instant: str
    before: SliceTask | None
    after: SliceTask | None
    logs: tuple[LogFile, ...] = ()
    appended: bool = False


def iter_changes(storage: Storage, context: RecordContext, task: ChangeTask) -> Iterator[pa.RecordBatch]:
    """Yield the changes of a commit to a file group, with the columns of `CHANGE_SCHEMA`.

    Raises:
        CorruptTableError: a file is damaged or missing.
        UnsupportedError: a log holds what is not served.
    """
    if task.logs:
        yield from _read_logged_changes(storage, context, task)
    elif task.after is None:
        for rows in _rows(storage, context, task.before):
            yield _batch(task, DELETED, json_rows(rows), None)
    elif task.before is None:
        for rows in _rows(storage, context, task.after):
            yield _batch(task, INSERTED, None, json_rows(rows))
    else:
        yield from _compare_versions(storage, context, task)


def _read_logged_changes(storage: Storage, context: RecordContext, task: ChangeTask) -> Iterator[pa.RecordBatch]:
    for log in task.logs:
        for entries in read_change_log(storage, log):
            try:
                # As Apache Hudi gives it: an image that the log could have held and has not is the JSON text of nothing.
                before = _strings(*images(entries, "before", context.schema, log.name.instant))
                if task.after is None:
                    after = _strings(*images(entries, "after", context.schema, log.name.instant))
                else:
                    after = _look_up(storage, context, task.after, entries)
            except (CorruptTableError, KeyError) as error:
                raise CorruptTableError(f"Log of changes '{log.path}' of the table at {storage.uri}: {error}") from error
            operations = entries.column("op").combine_chunks()
            yield _batch(task, operations.cast(pa.string()), before, after)


def _strings(rows: pa.Table, has_row: pa.BooleanArray) -> pa.StringArray:
    """Return the rows as strings at the places that have one, `null` at the others."""
    return pc.replace_with_mask(pa.repeat(pa.scalar("null"), len(has_row)), has_row, json_rows(rows))


def _look_up(storage: Storage, context: RecordContext, after: SliceTask, entries: pa.Table) -> pa.StringArray:
    """Return the images after the commit of entries that hold keys instead."""
    keys = entries.column("record_key").combine_chunks()
    rows = pa.Table.from_batches(_rows(storage, context, after, keys), schema=_schema(context, None))
    indices = pc.index_in(keys, value_set=rows.column(RECORD_KEY).combine_chunks())
    values = json_rows(rows).take(indices)
    deleted = pc.equal(entries.column("op"), DELETED).combine_chunks()
    missing = pc.and_(pc.invert(deleted), values.is_null())
    if pc.any(missing).as_py():
        key = keys.filter(missing)[0].as_py()
        raise CorruptTableError(f"it has an entry of key '{key}', which base file '{_path(after)}' has not")
    return pc.if_else(deleted, pa.scalar(None, pa.string()), values)


def _compare_versions(storage: Storage, context: RecordContext, task: ChangeTask) -> Iterator[pa.RecordBatch]:
    """Yield the changes between two slices."""
    assert task.before is not None
    assert task.after is not None
    # In these modes a late version can fill gaps of a row that stays the same one otherwise: only whole rows tell. So it is where
    # rows do not say which commit wrote them.
    mixes = context.mixes_versions or context.virtual_key is not None
    keys = _appended_keys(storage, context, task) if task.appended else None
    if keys is None and not mixes:
        was, now = (_whole(storage, context, one, None, IDENTITY_COLUMNS) for one in (task.before, task.after))
        changed = [rows_without(one, other).column(RECORD_KEY) for one, other in ((was, now), (now, was))]
        keys = pc.unique(pa.chunked_array([chunk for column in changed for chunk in column.chunks], pa.string()))
    if keys is not None and not len(keys):
        return
    was, now = (_whole(storage, context, one, keys, None) for one in (task.before, task.after))
    strings = _Strings(json_rows(was), json_rows(now))
    recorded = (strings.before, strings.after) if mixes else (None, None)
    removed = pc.invert(is_among(was, now, *recorded))
    come = pc.invert(is_among(now, was, *reversed(recorded)))
    removed_keys, keys_come = (rows.column(RECORD_KEY).filter(mask).to_pylist() for rows, mask in ((was, removed), (now, come)))
    yield from _pair_changes(
        task, removed_keys, strings.before.filter(removed).to_pylist(), keys_come, strings.after.filter(come).to_pylist()
    )


@dataclass(frozen=True, slots=True)
class _Strings:
    before: pa.StringArray
    after: pa.StringArray


def _pair_changes(
    task: ChangeTask, removed_keys: list[str], removed: list[str], keys_come: list[str], come: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield updates and inserts in the order of the rows that came, then deletes."""
    waiting: dict[str, deque[str]] = defaultdict(deque)
    for key, text in zip(removed_keys, removed, strict=True):
        waiting[key].append(text)
    before = [waiting[key].popleft() if waiting.get(key) else None for key in keys_come]
    left = [text for strings in waiting.values() for text in strings]
    operations = [INSERTED if old is None else UPDATED for old in before] + [DELETED] * len(left)
    if operations:
        columns = (operations, [*before, *left], [*come, *[None] * len(left)])
        yield _batch(task, *(pa.array(column, pa.string()) for column in columns))


def _appended_keys(storage: Storage, context: RecordContext, task: ChangeTask) -> pa.StringArray:
    """Return the keys of what the commit put into log files."""
    assert task.after is not None
    commit_blocks = [block for block in chosen_blocks(storage, task.after) if block.header.instant == task.instant]
    return pc.unique(read_log_rows(storage, context, commit_blocks, [RECORD_KEY]).keys)


def _whole(storage: Storage, context: RecordContext, task: SliceTask, keys: pa.Array | None, columns: Sequence[str] | None) -> pa.Table:
    batches = list(_rows(storage, context, task, keys, columns))
    return pa.Table.from_batches(batches, schema=_schema(context, columns)).combine_chunks()


def _schema(context: RecordContext, columns: Sequence[str] | None) -> pa.Schema:
    names = [*META_COLUMNS, *context.schema.names] if columns is None else columns
    fields = {name: pa.field(name, pa.string()) for name in META_COLUMNS} | {field.name: field for field in context.schema}
    return pa.schema([fields[name] for name in names])


def _rows(
    storage: Storage, context: RecordContext, task: SliceTask | None, keys: pa.Array | None = None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a slice, its logs merged; those of some keys, or all."""
    if task is None:
        return
    names = _schema(context, columns).names
    condition = None if keys is None else pc.field(RECORD_KEY).isin(keys)
    if task.slice.logs:
        yield from iter_merged(storage, context, replace(task, columns=tuple(names)), condition)
    elif task.slice.base is not None:
        yield from iter_keyed_base(storage, context, task.slice.base, names, condition)


def _path(task: SliceTask) -> str:
    return "" if task.slice.base is None else task.slice.base.path


def _batch(task: ChangeTask, operations: str | pa.Array, before: pa.Array | None, after: pa.Array | None) -> pa.RecordBatch:
    count = next(len(column) for column in (before, after) if column is not None)
    columns = [
        pa.repeat(pa.scalar(operations), count) if isinstance(operations, str) else operations,
        pa.repeat(pa.scalar(task.instant), count),
        pa.nulls(count, pa.string()) if before is None else before,
        pa.nulls(count, pa.string()) if after is None else after,
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CHANGE_SCHEMA)
