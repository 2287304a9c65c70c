"""A floating point number as the Java that Apache Hudi runs on prints it.

Rules: `Double.toString` and `Float.toString` up to Java 18 (`FloatingDecimal`), which Apache Hudi 1.2 and Spark 3.5 are made for. They do
not always give the shortest digits that name the number (JDK-4511638): `2.0E23` is `1.9999999999999998E23`. A key that was written so is
found only by the same digits. Java 19 and later print the shortest ones; keys of pyhudi do not depend on who runs it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Final

_FRACTION_BITS: Final = 52
#: Bits that 5^n takes, where all numbers fit into 64 bits.
_BITS_OF_FIVES: Final = (0, *((5**power).bit_length() for power in range(1, 27)))
#: Bits of the words that are used where all numbers fit.
_WORDS: Final = (32, 64)
#: Exponents of two between which a number may be a whole one of 64 bits.
_SMALL: Final = range(-21, 63)
#: Numbers of digits before the point with which a number of 1 and more is printed without exponent.
_PLAIN: Final = range(1, 8)
#: Exponents of ten with which one digit may be enough.
_SHORTEST: Final = range(-3, 8)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A positive number: 53 bits of which the first is set, its exponent of two, and how many bits its type has for it."""

    bits: int
    exponent: int
    significant: int

    @property
    def zeros(self) -> int:
        """How many bits at the end are not set."""
        return (self.bits & -self.bits).bit_length() - 1

    @property
    def width(self) -> int:
        """How many bits there are without these."""
        return _FRACTION_BITS + 1 - self.zeros


def float_text(value: float, *, single_precision: bool = False) -> str:
    """Return a floating point number as Java prints it, with an exponent from 10^7 on and below 10^-3.

    Args:
        value: the number.
        single_precision: it is one of 32 bits.

    Example:
        >>> float_text(0.0001), float_text(100.0), float_text(0.1, single_precision=True), float_text(2e23)
        ('1.0E-4', '100.0', '0.1', '1.9999999999999998E23')
    """
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    parts = _parts_of_single(abs(value)) if single_precision else _parts_of_double(abs(value))
    digits, point = _whole_digits(parts) or _digits(parts)
    return sign + _print_digits(digits, point)


def _parts_of_double(value: float) -> _Parts:
    (stored,) = struct.unpack(">Q", struct.pack(">d", value))
    return _parts(stored >> 52, stored & ((1 << 52) - 1), 52, 1023)


def _parts_of_single(value: float) -> _Parts:
    (stored,) = struct.unpack(">I", struct.pack(">f", value))
    return _parts(stored >> 23, stored & ((1 << 23) - 1), 23, 127)


def _parts(exponent: int, fraction: int, width: int, bias: int) -> _Parts:
    significant = width + 1
    if exponent:
        fraction |= 1 << width
    else:
        significant = fraction.bit_length()
        shift = width + 1 - significant
        fraction, exponent = fraction << shift, 1 - shift
    return _Parts(fraction << (_FRACTION_BITS - width), exponent - bias, significant)


def _whole_digits(parts: _Parts) -> tuple[str, int] | None:
    """Return the digits of a whole number of 64 bits and where its point is; None for other numbers."""
    if parts.exponent not in _SMALL or parts.exponent < parts.width - 1:
        return None
    number = parts.bits << parts.exponent >> _FRACTION_BITS
    # Digits that its bits do not tell are rounded away.
    insignificant = len(str(1 << max(parts.exponent - parts.significant - 1, 0))) - 1
    if insignificant:
        power = 10**insignificant
        number = number // power + (number % power >= power >> 1)
    text = str(number)
    return text.rstrip("0"), len(text) + insignificant


def _digits(parts: _Parts) -> tuple[str, int]:
    """Return the digits of a number and where its point is, by long division until the digits tell it from its neighbours."""
    width = parts.width
    behind_point = max(0, width - parts.exponent - 1)
    ten = _power_of_ten(parts)
    # The number is b / s * 10^ten, and half of the distance to its neighbours m / s.
    fives_b, fives_s = max(0, -ten), max(0, ten)
    twos_b, twos_s = fives_b + behind_point + parts.exponent, fives_s + behind_point
    twos_m = twos_b - parts.significant
    twos_b -= width - 1
    common = min(twos_b, twos_s)
    twos_b, twos_s, twos_m = twos_b - common, twos_s - common, twos_m - common - (width == 1)
    if twos_m < 0:
        twos_b, twos_s, twos_m = twos_b - twos_m, twos_s - twos_m, 0
    size = max(_size(width + twos_b, fives_b), _size(twos_s + 1, fives_s + 1))
    word = next((bits for bits in _WORDS if size < bits), None)
    b, s, m = (parts.bits >> parts.zeros) * 5**fives_b << twos_b, 5**fives_s << twos_s, 5**fives_b << twos_m
    return _divide(b, s, m, ten, word)


def _divide(b: int, s: int, m: int, ten: int, word: int | None) -> tuple[str, int]:
    """Divide b by s; `word` is how many bits the numbers have there, which sums may overflow, None when any number fits."""

    def step() -> tuple[int, bool, bool]:
        nonlocal b, m
        digit, rest = divmod(b, s)
        b, m = rest * 10, _wrap(m * 10, word)
        if m <= 0:
            return digit, True, True
        return digit, b < m, _wrap(b + m, word) > 10 * s or (b + m == 10 * s and word is None)

    first, low, high = step()
    digits = [first]
    if not (first or high):
        digits, ten = [], ten - 1
    if ten not in _SHORTEST:
        low = high = False  # at least two digits
    while not (low or high):
        digit, low, high = step()
        digits.append(digit)
    behind = _wrap(_wrap(2 * b, word) - 10 * s, word)
    if high and (not low or behind > 0 or (behind == 0 and digits[-1] % 2)):
        return _round_up(digits, ten + 1)
    return "".join(map(str, digits)), ten + 1


def _round_up(digits: list[int], point: int) -> tuple[str, int]:
    text = str(int("".join(map(str, digits))) + 1)
    return (text[: len(digits)], point + 1) if len(text) > len(digits) else (text.zfill(len(digits)), point)


def _size(twos: int, fives: int) -> int:
    """Return how many bits 2^twos 5^fives is taken to have there."""
    return twos + (_BITS_OF_FIVES[fives] if fives < len(_BITS_OF_FIVES) else 3 * fives)


def _wrap(number: int, word: int | None) -> int:
    """Return what is left of a number in a signed word of so many bits."""
    if word is None:
        return number
    half = 1 << (word - 1)
    return (number + half) % (2 * half) - half


def _power_of_ten(parts: _Parts) -> int:
    """Return what the exponent of ten is there before the first digit is known; it may be one too great."""
    fraction = parts.bits / (1 << _FRACTION_BITS)
    return math.floor((fraction - 1.5) * 0.289529654 + 0.176091259 + parts.exponent * 0.301029995663981)


def _print_digits(digits: str, point: int) -> str:
    if point in _PLAIN:
        whole, rest = digits[:point].ljust(point, "0"), digits[point:]
        return f"{whole}.{rest or '0'}"
    if -3 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"
