"""Which values of two columns are the same, as a MERGE decides whether a row brings its record anything new.

Rule: `EqualNullSafe` of Spark (`<=>`): nulls are the same, and so are values that are no numbers, of whatever bits. -0.0 is 0.0.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Mask


def same_values(new: pa.ChunkedArray, old: pa.ChunkedArray) -> Mask:
    """Return for each row whether two columns of one type, which is not nested, have the same value.

    Args:
        new: the values of one column.
        old: as many of the other.

    Example:
        >>> same_values(pa.chunked_array([[1.0, float("nan"), None]]), pa.chunked_array([[2.0, float("nan"), None]]))
        array([False,  True,  True])
    """
    same = pc.or_(pc.fill_null(pc.equal(new, old), False), pc.and_(pc.is_null(new), pc.is_null(old)))
    if pt.is_floating(new.type):
        same = pc.or_(same, pc.fill_null(pc.and_(pc.is_nan(new), pc.is_nan(old)), False))
    result: Mask = same.to_numpy()
    return result
