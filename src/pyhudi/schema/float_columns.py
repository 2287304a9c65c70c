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

#: Java prints the sizes between these as Arrow does.
_TEXT_MIN: Final = 1e-3
_TEXT_MAX: Final = 1e7
#: The text of a float between these is the decimal of the fewest digits that is rounded to it. Below 10^-3, where text has an exponent,
#: this was compared for each float with `Float.toString` of Java 17.
EXACT_MIN: Final = 2.0**-24
EXACT_MAX: Final = _TEXT_MAX
#: The bits of a float that is not negative, as a whole number, grow with it.
_EXPONENT_BITS: Final = 23
_EXACT_BITS: Final = np.array([EXACT_MIN, EXACT_MAX], np.float32).view(np.uint32)
_SIGN_BIT: Final = np.uint32(0x7FFFFFFF)
#: What stays in the processor's cache.
_BLOCK_ROWS: Final = 1 << 14
#: Less than half by more than the error of a product below 10^9.
NEARLY_HALF: Final = 0.49999


def power_of_exponent(exponent: int) -> float:
    """Return the greatest power of ten whose reciprocal is greater than the distance between floats of an exponent.

    Example:
        >>> power_of_exponent(0)
        1000000.0
    """
    distance = 2.0 ** (exponent - _EXPONENT_BITS)
    return max((10.0**power for power in range(23) if 10.0**-power > distance), default=1.0)


_POWERS: Final = np.array([power_of_exponent(bits - 127) for bits in range(256)])


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
    floats = column.to_numpy(zero_copy_only=False)
    doubles, by_text = np.empty(len(floats)), [np.empty(0, np.int64)]
    for start in range(0, len(floats), _BLOCK_ROWS):
        block = floats[start : start + _BLOCK_ROWS]
        doubles[start : start + len(block)], is_doubtful = _shortest_decimals(block, block.view(np.uint32))
        by_text.append(np.flatnonzero(is_doubtful | ~_is_plain(block)) + start)
    at = np.concatenate(by_text)
    if len(at):
        doubles[at] = float_strings(pa.array(floats[at])).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return pa.array(doubles, mask=column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None)


def _is_plain(floats: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which floats are zeros, from 2^-24 to 10^7, or no numbers."""
    size = floats.view(np.uint32) & _SIGN_BIT
    is_plain: NDArray[np.bool_] = size - _EXACT_BITS[0] < _EXACT_BITS[1] - _EXACT_BITS[0]
    return is_plain if is_plain.all() else is_plain | (size == 0) | ~np.isfinite(floats)


def _shortest_decimals(floats: NDArray[np.float32], bits: NDArray[np.uint32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for each float the decimal of the fewest digits that is rounded to it, as a double, and whether there is a doubt about it.

    It holds for zeros and for floats from 2^-24 to 10^7. The exponent of a float tells the most digits behind the point with which
    decimals are farther apart than floats are: then one decimal at most is rounded to the float, and it is that of the fewest digits. Where
    none is, one digit more is enough, and the nearest decimal counts; one that is as near is a doubt. A decimal is a whole number divided
    by a power of ten, both doubles without error, so that their quotient is the nearest double.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # of what is no number
        doubles = floats.astype(np.float64)
        powers = _POWERS.take((bits & _SIGN_BIT) >> _EXPONENT_BITS)
        result = np.rint(doubles * powers)
        result /= powers
        pending = result.astype(np.float32) != floats
        if not pending.any():
            return result, pending
        powers *= 10.0
        scaled = doubles * powers
        whole = np.rint(scaled)
        is_doubtful = np.abs(scaled - whole) > NEARLY_HALF
        whole /= powers
    np.copyto(result, whole, where=pending)
    return result, is_doubtful & pending


def _format_exactly(column: pa.Array) -> pa.StringArray:
    single = pt.is_float32(column.type)
    # By their bits: zeros of both signs are different numbers.
    bits = column.to_numpy(zero_copy_only=False).view(np.int32 if single else np.int64)
    different, indices = np.unique(bits, return_inverse=True)
    values = different.view(np.float32 if single else np.float64).tolist()
    strings = pa.array([float_text(value, single_precision=single) for value in values], pa.string())
    return strings.take(pa.array(indices))
