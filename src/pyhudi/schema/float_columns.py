"""Columns of floating point numbers as the Java that Apache Hudi runs on prints them, a column at a time.

Rules: `javacompat.float_text`, which is exact and slow. Numbers from 10^-3 to 10^7 are printed by Java with the shortest digits, as Arrow
prints them; the others take the exact way, each different one once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.javacompat.float_text import float_text


def float_strings(column: pa.Array) -> pa.StringArray:
    """Return floats or doubles as text.

    Example:
        >>> float_strings(pa.array([2.0, 1e7, None, float("-inf")])).to_pylist()
        ['2.0', '1.0E7', None, '-Infinity']
    """
    shortest = column.cast(pa.string())
    strings = pc.if_else(pc.match_substring(shortest, "."), shortest, pc.binary_join_element_wise(shortest, ".0", ""))
    size = pc.abs(column)
    is_plain = pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)).fill_null(True)  # nulls are left as they are
    if pc.all(is_plain, min_count=0).as_py():
        return strings
    others = column.filter(pc.invert(is_plain))
    return pc.replace_with_mask(strings, pc.invert(is_plain), _format_exactly(others))


def as_doubles(column: pa.FloatArray) -> pa.DoubleArray:
    """Return floats as the doubles that have their text: a float of 0.1 is a double of 0.1."""
    return float_strings(column).cast(pa.float64())


def _format_exactly(column: pa.Array) -> pa.StringArray:
    single = pt.is_float32(column.type)
    # By their bits: zeros of both signs are different numbers.
    bits = column.to_numpy(zero_copy_only=False).view(np.int32 if single else np.int64)
    different, indices = np.unique(bits, return_inverse=True)
    values = different.view(np.float32 if single else np.float64).tolist()
    strings = pa.array([float_text(value, single_precision=single) for value in values], pa.string())
    return strings.take(pa.array(indices))
