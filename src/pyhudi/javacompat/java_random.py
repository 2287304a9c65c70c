"""The numbers of `java.util.Random`, as its documentation defines them."""

from __future__ import annotations


class JavaRandom:
    """A generator that gives the numbers of `java.util.Random` with the same seed.

    Example:
        >>> JavaRandom(42).number_below(10)
        0
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _bits(self, count: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state >> (48 - count)

    def number_below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1."""
        bits = self._bits(31)
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        while bits - bits % bound + bound > 1 << 31:
            bits = self._bits(31)
        return bits % bound

    def digit(self) -> str:
        """Return a digit, taken of a `float`."""
        return str(self._bits(24) * 10 >> 24)

    def fraction(self) -> float:
        """Return a number of 0 to less than 1, a `double`."""
        return float(((self._bits(26) << 27) + self._bits(27)) * 2.0**-53)
