"""Which columns of a file have statistics: those whose bounds are true for every reader."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.kernels.arrays.leaf_columns import columns_with_statistics
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.base_file.parquet_output import open_writer

NAN = float("nan")
ROWS = pa.table(
    {
        "id": [1, 2],
        "sure": [1.0, None],
        "x": [1.0, NAN],
        "spot": pa.array([{"f": 1.0, "n": 1}] * 2),
        "list": [[1.0], [2.0]],
    }
)


def test_columns_that_hold_nan_have_none() -> None:
    assert columns_with_statistics(ROWS) == ["id", "sure", "spot.n"]


def test_the_file_has_them_for_these_columns_and_no_others() -> None:
    output = pa.BufferOutputStream()
    with open_writer(output, ROWS.schema, WriterSettings(), ROWS) as writer:
        writer.write_table(ROWS)
    group = pq.read_metadata(pa.BufferReader(output.getvalue())).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert [column.path_in_schema for column in columns if column.is_stats_set] == columns_with_statistics(ROWS)
