"""Columns of floating point numbers as the Java that Apache Hudi runs on prints them, a column at a time.

Rules: `javacompat.float_text`, which is exact and slow. Numbers from 10^-3 to 10^7 are printed by Java with the shortest digits, as Arrow
prints them; the others take the exact way, each different one once.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from pyhudi.javacompat.float_text import float_text

_TEXT_MIN: Final = 1e-3
_TEXT_MAX: Final = 1e7
_SIZES: Final = np.array([10.0**power for power in range(-3, 7)])
_POWERS: Final = np.array([float(10**power) for power in range(13)])
#: A float has at most nine digits. Most have either few, since a person or a price list gave them, or nearly all.
_DIGITS_MAX: Final = 9
_FEW_DIGITS: Final = 6
#: What stays in the processor's cache.
_BLOCK_ROWS: Final = 1 << 15
#: Greater than the error of a product below 10^10.
_DOUBT: Final = 1e-5


def float_strings(column: pa.Array) -> pa.StringArray:
    """Return floats or doubles as text.

    Example:
        >>> float_strings(pa.array([2.0, 1e7, None, float("-inf")])).to_pylist()
        ['2.0', '1.0E7', None, '-Infinity']
    """
    shortest = column.cast(pa.string())
    strings = pc.if_else(pc.match_substring(shortest, "."), shortest, pc.binary_join_element_wise(shortest, ".0", ""))
    size = pc.abs(column)
    is_plain = pc.and_(pc.greater_equal(size, _TEXT_MIN), pc.less(size, _TEXT_MAX)).fill_null(True)  # nulls are left as they are
    if pc.all(is_plain, min_count=0).as_py():
        return strings
    others = column.filter(pc.invert(is_plain))
    return pc.replace_with_mask(strings, pc.invert(is_plain), _format_exactly(others))


def as_doubles(column: pa.FloatArray) -> pa.DoubleArray:
    """Return floats as the doubles that have their text: a float of 0.1 is a double of 0.1.

    Example:
        >>> as_doubles(pa.array([0.1, 3.0, None, 1e30], pa.float32())).to_pylist()
        [0.1, 3.0, None, 1e+30]
    """
    blocks = [_doubles(column.slice(start, _BLOCK_ROWS)) for start in range(0, len(column), _BLOCK_ROWS)]
    return pa.concat_arrays(blocks) if blocks else pa.array([], pa.float64())


def _doubles(column: pa.FloatArray) -> pa.DoubleArray:
    floats = column.to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):  # NaN
        doubles = floats.astype(np.float64)
        size = np.abs(doubles)
        is_exact = ((size < _TEXT_MAX) & (np.trunc(doubles) == doubles)) | ~np.isfinite(doubles)
    # The text of a whole number, and of what is no number, is exact.
    is_decimal = ~is_exact & (size >= _TEXT_MIN) & (size < _TEXT_MAX)
    at = np.flatnonzero(is_decimal)
    by_text = np.flatnonzero(~is_exact & ~is_decimal)
    doubles[at], is_doubtful = _shortest_decimals(floats[at])
    by_text = np.concatenate([by_text, at[is_doubtful]])
    if len(by_text):
        doubles[by_text] = float_strings(pa.array(floats[by_text])).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return pa.array(doubles, mask=column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None)


def _shortest_decimals(floats: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for each float the decimal of the fewest digits that is rounded to it, as a double, and whether there is a doubt about it.

    The floats are from 10^-3 to 10^7 and no whole numbers, so that n digits of the decimal are behind its point, and it is a whole number
    divided by 10^n; both are doubles without error, so that their quotient is the nearest double.
    """
    doubles = floats.astype(np.float64)
    whole_digits = np.searchsorted(_SIZES, np.abs(doubles), side="right") - 3
    result, is_doubtful = doubles.copy(), np.ones(len(floats), bool)
    has_few = _rounded(doubles, floats, _FEW_DIGITS - whole_digits)[1]
    for group, counts in ((has_few, range(1, _FEW_DIGITS + 1)), (~has_few, range(_FEW_DIGITS + 1, _DIGITS_MAX + 1))):
        pending = np.flatnonzero(group)
        for count in counts:
            decimals, fits, doubts = _rounded(doubles[pending], floats[pending], count - whole_digits[pending])
            done = pending[fits]
            result[done], is_doubtful[done] = decimals[fits], doubts[fits]
            pending = pending[~fits]
    return result, is_doubtful


def _rounded(
    doubles: NDArray[np.float64], floats: NDArray[np.float32], digits: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return numbers rounded to so many digits behind the point, whether these are the floats, and whether another digit is as near."""
    powers = _POWERS[np.maximum(digits, 1)]
    scaled = doubles * powers
    whole = np.rint(scaled)
    decimals = whole / powers
    return decimals, decimals.astype(np.float32) == floats, np.abs(np.abs(scaled - whole) - 0.5) < _DOUBT


def _format_exactly(column: pa.Array) -> pa.StringArray:
    single = pt.is_float32(column.type)
    # By their bits: zeros of both signs are different numbers.
    bits = column.to_numpy(zero_copy_only=False).view(np.int32 if single else np.int64)
    different, indices = np.unique(bits, return_inverse=True)
    values = different.view(np.float32 if single else np.float64).tolist()
    strings = pa.array([float_text(value, single_precision=single) for value in values], pa.string())
    return strings.take(pa.array(indices))
