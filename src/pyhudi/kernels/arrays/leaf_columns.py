"""Which columns of a file are worth a dictionary, and which may have statistics.

A dictionary over values that hardly repeat is built, found too large and thrown away: a sixth of the time of writing
a table whose keys are text. A sample of the first rows tells beforehand.

Arrow leaves NaN out of the bounds that it writes, while Spark takes NaN for the greatest number and trusts bounds: it would
pass over a row group whose only answer to `x > 5` is NaN. A column that holds NaN in a row group therefore has none there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.schema.meta_columns import COMMIT_SEQNO, RECORD_KEY

_SAMPLE_ROWS = 8192
#: From this share of distinct values in the sample on, a column is written plain.
_DISTINCT_SHARE = 0.9


def dictionary_columns(rows: pa.Table) -> list[str]:
    """Return the Parquet paths of the leaf columns that are dictionary-encoded."""
    sample = rows.slice(0, _SAMPLE_ROWS)
    paths: list[str] = []
    for field in rows.schema:
        if field.name not in (COMMIT_SEQNO, RECORD_KEY) and not _hardly_repeats(sample, field):
            paths.extend(leaf_paths(field.type, field.name))
    return paths


def columns_with_statistics(rows: pa.Table) -> list[str]:
    """Return the Parquet paths of the leaf columns whose bounds cover all of these rows."""
    without = columns_with_nan(rows)
    paths: list[str] = []
    for field in rows.schema:
        if not pt.is_floating(field.type):
            paths.extend(path for path, leaf in leaf_columns(field.type, field.name) if not pt.is_floating(leaf))
        elif field.name not in without:
            paths.append(field.name)
    return paths


def columns_with_nan(rows: pa.Table) -> set[str]:
    """Return the names of the floating-point columns that hold NaN."""
    floating = [field.name for field in rows.schema if pt.is_floating(field.type)]
    return {name for name in floating if pc.any(pc.is_nan(rows.column(name))).as_py()}


def leaf_paths(arrow: pa.DataType, path: str) -> Iterator[str]:
    """Yield the Parquet paths of the primitive columns below a field.

    Example:
        >>> list(leaf_paths(pa.list_(pa.struct({"a": pa.int32()})), "x"))
        ['x.list.element.a']
    """
    for leaf, _ in leaf_columns(arrow, path):
        yield leaf


def leaf_columns(arrow: pa.DataType, path: str) -> Iterator[tuple[str, pa.DataType]]:
    """Yield path and type of the primitive columns below a field."""
    if pt.is_struct(arrow):
        for field in arrow:
            yield from leaf_columns(field.type, f"{path}.{field.name}")
    elif pt.is_list(arrow):
        yield from leaf_columns(arrow.value_type, f"{path}.list.element")
    elif pt.is_map(arrow):
        yield from leaf_columns(arrow.key_type, f"{path}.key_value.key")
        yield from leaf_columns(arrow.item_type, f"{path}.key_value.value")
    else:
        yield path, arrow


def _hardly_repeats(sample: pa.Table, field: pa.Field) -> bool:
    if sample.num_rows < _SAMPLE_ROWS or pt.is_nested(field.type) or pt.is_dictionary(field.type):
        return False
    distinct: int = pc.count_distinct(sample.column(field.name)).as_py()
    return distinct >= _DISTINCT_SHARE * int(sample.num_rows)
