"""Record batches of a size that the caller chose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.read.execute import Selection, read_batches


def check_batch_size(rows: object) -> int:
    """Return a number of rows for each batch.

    Raises:
        OptionError: it is no positive integer.
    """
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise OptionError(f"batch_size is {rows!r:.100}; give a number of rows of at least 1.")
    return rows


def check_row_count(rows: object, argument: str = "num_rows") -> int:
    """Return how many rows are asked for.

    Raises:
        OptionError: it is no integer, or below 0.
    """
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise OptionError(f"{argument} is {rows!r:.100}; give a number of rows, 0 or more.")
    return rows


def batch_reader(selected: Selection, rows: int) -> pa.RecordBatchReader:
    """Return the rows of a selection in batches of `rows` rows each; the last one may have fewer.

    Raises:
        OptionError: `rows` is no positive integer.
    """
    check_batch_size(rows)
    reader = read_batches(selected)
    return pa.RecordBatchReader.from_batches(reader.schema, batches_of(reader, rows))


def batches_of(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of `rows` rows each; the last one may have fewer.

    Example:
        >>> parts = pa.table({"a": [1, 2, 3, 4, 5]}).to_batches(max_chunksize=2)
        >>> [batch.num_rows for batch in batches_of(parts, 3)]
        [3, 2]
    """
    pending: list[pa.RecordBatch] = []
    missing = rows
    for batch in batches:
        start = 0
        while batch.num_rows - start >= missing:
            yield _joined([*pending, batch.slice(start, missing)])
            start, missing, pending = start + missing, rows, []
        if start < batch.num_rows:
            pending.append(batch.slice(start))
            missing -= batch.num_rows - start
    if pending:
        yield _joined(pending)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.concat_batches(batches)
