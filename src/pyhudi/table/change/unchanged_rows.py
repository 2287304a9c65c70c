"""Which rows of a merge bring their record the values that it has; such rows are not written.

Of the stored columns that nothing else needs, one is read and compared first: a new version mostly differs in each column, and then the
other columns are never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.same_values import same_values
from pyhudi.read.late_columns import LateRows

#: Types of columns whose values differ most likely, and are decoded fastest, first.
_TELLING: Final = (pt.is_floating, pt.is_timestamp, pt.is_int64, pt.is_primitive)


def unchanged_rows(
    values: Mapping[str, pa.ChunkedArray], stored: Mapping[str, pa.ChunkedArray], schema: pa.Schema, late: LateRows, indices: Indices
) -> pa.Array:
    """Return for each row whether its new values are those that it has; values without an equality count as changed.

    Args:
        values: the new values by column.
        stored: the columns of the same rows that were read.
        schema: the columns of the table.
        late: reads those that were not.
        indices: the number of each row in `late`.

    Raises:
        CorruptTableError: a file is damaged or missing.
    """
    if any(pt.is_nested(schema.field(name).type) for name in values):
        return pa.repeat(pa.scalar(False), len(indices))
    candidates = np.arange(len(indices))
    for name in values.keys() & stored.keys():
        candidates = candidates[same_values(values[name].take(pa.array(candidates)), stored[name].take(pa.array(candidates)))]
    for names in _in_turns([name for name in values if name not in stored], schema):
        if not len(candidates):
            break
        rows, inverse = np.unique(indices[candidates], return_inverse=True)
        read, is_same = late.columns(names, rows), np.ones(len(candidates), bool)
        for name in names:
            is_same &= same_values(values[name].take(pa.array(candidates)), read.column(name).take(pa.array(inverse)))
        candidates = candidates[is_same]
    result = np.zeros(len(indices), bool)
    result[candidates] = True
    return pa.array(result)


def _in_turns(names: Sequence[str], schema: pa.Schema) -> list[list[str]]:
    """Return the column that tells most, then all others; each turn reads the files once."""
    ordered = sorted(names, key=lambda name: next((at for at, is_kind in enumerate(_TELLING) if is_kind(schema.field(name).type)), 9))
    return [part for part in (ordered[:1], ordered[1:]) if part]
