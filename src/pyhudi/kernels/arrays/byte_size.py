"""How many bytes rows take in memory.

Arrow's own `nbytes` looks at the offsets of lists below lists, also where there are none to look at: a JVM sends a list without elements
with no offsets at all, and the process ends there (Arrow 26; `array(array('a'))` next to a null is enough).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def byte_size(rows: pa.Table | pa.RecordBatch) -> int:
    """Return the bytes of the rows in memory, those of a slice without what surrounds it."""
    if not any(_nests_lists(field.type) for field in rows.schema):
        return int(rows.nbytes)
    batches = rows.to_batches() if isinstance(rows, pa.Table) else [rows]
    return sum(pa.ipc.get_record_batch_size(batch) for batch in batches)


def rows_of_bytes(rows: pa.Table, limit: int) -> int:
    """Return how many rows of this size take about `limit` bytes; at least one.

    Example:
        >>> rows_of_bytes(pa.table({"a": pa.array([1, 2, 3], pa.int64())}), 16)
        2
    """
    return max(1, int(limit / max(1.0, byte_size(rows) / max(1, rows.num_rows))))


def _nests_lists(arrow: pa.DataType, *, inside: bool = False) -> bool:
    is_list = pt.is_list(arrow) or pt.is_large_list(arrow) or pt.is_map(arrow)
    if inside and is_list:
        return True
    return pt.is_nested(arrow) and any(_nests_lists(arrow.field(index).type, inside=inside or is_list) for index in range(arrow.num_fields))
