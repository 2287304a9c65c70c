"""The rewrite of a base file: row groups that no incoming row changes are copied as bytes, the rows of the others pass by to be merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.kernels.base_file.stored_groups import StoredGroups, open_groups
from pyhudi.kernels.keys.key_kernels import with_computed_keys
from pyhudi.kernels.merge.incoming_positions import IncomingPositions
from pyhudi.kernels.merge.touched_groups import unchanged_groups
from pyhudi.kernels.tasks.splicing_writer import SplicingFileWriter
from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage


@contextmanager
def open_rewrite(
    storage: Storage,
    context: RecordContext,
    settings: WriterSettings,
    base: BaseFile,
    file_name: str,
    output: BinaryIO,
    incoming: pa.Table | None,
) -> Iterator[tuple[BaseFileWriter, Iterator[tuple[int, pa.Table]]]]:
    """Return the writer of the new file, and the old rows that are to be merged and appended one piece after the other.

    With them comes the number that the first of these rows has in the file before.

    Row groups that are copied are written while the old rows are read: each piece must be appended before the next one is read.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like.
        settings: how base files are written.
        base: the file before.
        file_name: the name of the new file.
        output: the new file.
        incoming: the rows that replace those of their keys; None when no old row changes.

    Raises:
        CorruptTableError: the file before is damaged.
    """
    keys = KeyFilter.for_rows_after(storage, base, context, settings)
    with open_groups(storage, base, context, settings) as stored:
        # Event times are those of all rows of the new file, so all are read.
        bounds = None if stored is None else _lasting_bounds(stored, incoming, keys)
        unchanged = {} if stored is None or context.event_time_field is not None else _unchanged(stored, incoming, bounds)
        if stored is None or not unchanged:
            with BaseFileWriter(output, context, settings, keys) as writer:
                if bounds is not None:
                    writer.take_stored_range(bounds)
                yield writer, _old_rows(storage, context, base, 0 if incoming is None else incoming.num_rows)
        else:
            with SplicingFileWriter(output, context, settings, keys, stored, file_name) as splicing:
                if bounds is not None:
                    splicing.take_stored_range(bounds)
                yield splicing, _changed_rows(stored, unchanged, splicing)


def _lasting_bounds(stored: StoredGroups, incoming: pa.Table | None, keys: KeyFilter | None) -> tuple[str, str] | None:
    """Return the range of the keys before, if it is sure to be within that of the new file; None where it takes all keys to find the range.

    A row of the least or the greatest key may be deleted, and a filter that may begin again needs all keys.
    """
    if keys is not None and keys.needs_stored_keys:
        return None
    bounds = stored.key_bounds()
    if bounds is None or incoming is None:
        return bounds
    changed = pc.is_in(incoming.column(RECORD_KEY), value_set=pa.array(bounds))
    return None if pc.any(changed, min_count=0).as_py() else bounds


def _unchanged(stored: StoredGroups, incoming: pa.Table | None, bounds: tuple[str, str] | None) -> Mapping[int, pa.ChunkedArray | None]:
    reads_keys = bounds is None
    if incoming is None:
        return {number: stored.keys(number) if reads_keys else None for number in stored.full_groups}
    keys, positions = incoming.column(RECORD_KEY).combine_chunks(), IncomingPositions.of(incoming)
    return unchanged_groups(stored, keys, positions, reads_keys=reads_keys)


def _changed_rows(
    stored: StoredGroups, unchanged: Mapping[int, pa.ChunkedArray | None], writer: SplicingFileWriter
) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of the row groups that change, a row group at a time, and copy the others in between."""
    begin = 0
    for number, rows in enumerate(stored.rows):
        if number in unchanged:
            writer.copy_group(number, unchanged[number])
        elif rows:
            yield begin, pa.concat_tables(stored.batches(number))
        begin += rows


def _old_rows(storage: Storage, context: RecordContext, base: BaseFile, at_least: int) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of the file before: the data, and the meta columns that stay as they are.

    They come in pieces of `at_least` rows or more: each piece looks up its keys in a table of all incoming keys, and
    what it costs to build that table must not be paid for every small row group.
    """
    columns = [COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, *context.schema.names]
    waiting: list[pa.Table] = []
    begin = rows = 0
    for batch in iter_base_file(storage, base, context.schema, columns, dictionaries=[COMMIT_TIME]):
        waiting.append(with_computed_keys(pa.Table.from_batches([batch]), context.virtual_key))
        rows += batch.num_rows
        if rows >= at_least:
            yield begin, pa.concat_tables(waiting)
            begin, waiting, rows = begin + rows, [], 0
    if waiting:
        yield begin, pa.concat_tables(waiting)
