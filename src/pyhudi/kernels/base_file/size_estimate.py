"""How many bytes a row will take in a base file, by encoding some of them in memory."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter
from pyhudi.schema.meta_columns import without_meta_columns

#: Of many rows the sample is large enough to be exact to some hundredths; of few it is a share, or estimating would cost what writing does.
_SAMPLE_ROWS = 20_000
_SAMPLE_SHARE = 2
_LEAST_ROWS = 2_000
_SAMPLE_RUNS = 4
#: Strings as long as those that a real file holds in its meta columns.
_INSTANT = "2" * 17
_FILE_NAME = "f" * 70


def row_bytes(rows: pa.Table, settings: WriterSettings) -> float:
    """Return the bytes that one of these rows takes in a base file, without the footer; 0 for no rows.

    Args:
        rows: keyed rows, typed as the table's columns; some of them, from several places, are encoded.
        settings: how base files are written.
    """
    if not rows.num_rows:
        return 0.0
    sample = _sample(rows)
    context = RecordContext("", without_meta_columns(sample.schema), "")
    output = io.BytesIO()
    with BaseFileWriter(output, context, settings, None) as writer:
        writer.append(MetaColumnWriter(_INSTANT, "0", "", _FILE_NAME).new(sample, context.file_schema))
    group = pq.read_metadata(io.BytesIO(output.getvalue())).row_group(0)
    size = sum(group.column(index).total_compressed_size for index in range(group.num_columns))
    return float(size / sample.num_rows)


def _sample(rows: pa.Table) -> pa.Table:
    row_count = min(_SAMPLE_ROWS, max(_LEAST_ROWS, rows.num_rows // _SAMPLE_SHARE))
    if rows.num_rows <= row_count:
        return rows
    count = row_count // _SAMPLE_RUNS
    last = rows.num_rows - count
    starts = [last * index // (_SAMPLE_RUNS - 1) for index in range(_SAMPLE_RUNS)]
    return pa.concat_tables([rows.slice(start, count) for start in starts])
