"""Reads a file slice: the rows of its logs, then those of its base file that the logs left as they are.

The logs of a slice that are larger than a limit are merged in parts, by hash of the key, each of which reads the logs once. What
is kept from part to part are the places of base rows that no longer count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.iter_rows import NO_CONSTANTS, Constants, all_fields, project_columns, with_filter_columns
from pyhudi.kernels.base_file.read_base import row_count, with_constants
from pyhudi.kernels.keys.keyed_rows import KeyedPositions, iter_keyed_base, iter_keyed_positions
from pyhudi.kernels.log_file.count_headers import count_by_headers
from pyhudi.kernels.merge.slice_delta import Delta, SliceTask, chosen_blocks, slice_delta
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage
from dataclasses import dataclass

Merge: TypeAlias = "Callable[[Storage, RecordContext, SliceTask], Delta]"

#: Rows of compressed blocks take eleven times their bytes while they are merged (docs/design/0063-merging.md): this stays below 1 GB.
DEFAULT_LIMIT_BYTES = 64 << 20


def iter_merged(
    storage: Storage,
    context: RecordContext,
    task: SliceTask,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
    counts: MergeCounts | None = None,
    merge: Merge = slice_delta,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
    only: Indices | None = None,
    known: KeyedPositions | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file slice in batches of bounded size, with the table's types.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like.
        task: the slice and the columns; its part is not looked at.
        filter: expression over columns of the table.
        limit_bytes: logs of more bytes are merged in parts.
        counts: takes what was merged, when it is asked for.
        merge: merges a part; a caller may know what it comes to.
        constants: values that all rows have, whatever the files say.
        verify: hold the pages of the base file against their CRCs.
        only: numbers of the rows of the base file, ascending, that alone can pass the filter, where these are known.
        known: the rows of the base file that are read, without asking the filter; None to ask it.

    Raises:
        CorruptTableError: a file of the slice is damaged or missing.
        UnsupportedError: the logs hold what is not served.
    """
    projection = project_columns(context.schema, task.columns, meta_columns=True)
    needed = projection if filter is None else with_filter_columns(projection, all_fields(context.schema), filter)
    masked: list[pa.Array] = []
    for delta in deltas(storage, context, replace(task, columns=tuple(needed.names)), limit_bytes, merge):
        masked.append(delta.masked)
        if counts is not None:
            _add(counts, delta)
        rows = apply_filter(with_constants(delta.rows, constants), filter)
        yield from rows.select(projection.names).to_batches()
    if task.slice.base is not None:
        without = np.sort(pa.concat_arrays(masked).to_numpy())
        if known is not None:
            yield from iter_keyed_positions(
                storage, context, task.slice.base, projection.names, known.without(without), constants=constants, verify=verify
            )
            return
        yield from iter_keyed_base(
            storage, context, task.slice.base, projection.names, filter, without=without, constants=constants, verify=verify, only=only
        )


def count_merged(storage: Storage, context: RecordContext, task: SliceTask, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> int:
    """Return the number of rows of a file slice, from the base file's footer and the headers of the logs.

    Where headers do not tell, the logs' keys are read, and the base file's where they are not placed in it; arguments as of
    `iter_merged`.

    Raises:
        CorruptTableError: a file of the slice is damaged or missing.
        UnsupportedError: the logs hold what is not served.
    """
    base = task.slice.base
    base_rows = 0 if base is None else row_count(storage, base)
    if base is not None and not task.unmerged:
        proven = count_by_headers(context, base, base_rows, chosen_blocks(storage, task))
        if proven is not None:
            return proven
    changes = 0
    for delta in deltas(storage, context, replace(task, columns=(RECORD_KEY,)), limit_bytes, slice_delta):
        changes += int(delta.rows.num_rows) - len(delta.masked)
    return base_rows + changes


def deltas(storage: Storage, context: RecordContext, task: SliceTask, limit_bytes: int, merge: Merge = slice_delta) -> Iterator[Delta]:
    """Yield what the logs of a slice change, in parts by key when they are larger than a limit."""
    size = sum(log.size for log in task.slice.logs)
    parts = max(1, -(-size // limit_bytes))
    for number in range(parts):
        yield merge(storage, context, replace(task, part=(number, parts)))


def _add(counts: MergeCounts, delta: Delta) -> None:
    updates = delta.rows.num_rows - delta.inserts
    counts.updates += updates
    counts.inserts += delta.inserts
    counts.deletes += max(0, len(delta.masked) - updates)
    counts.log_records += delta.log_records
    counts.log_blocks, counts.log_bytes = delta.log_blocks, delta.log_bytes


@dataclass(slots=True)
class MergeCounts:
    """Rows of the base file that were replaced or deleted, rows that are new, and versions read from the logs.

    A merge in parts adds up over its parts; each reads all blocks, which are counted once, with the bytes of those that hold rows.
    """

    updates: int = 0
    inserts: int = 0
    deletes: int = 0
    log_records: int = 0
    log_blocks: int = 0
    log_bytes: int = 0
