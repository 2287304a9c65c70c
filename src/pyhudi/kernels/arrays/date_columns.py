"""Columns of dates as strings, read by a pattern: whole columns at once where every part has its full width and its place.

The rule on one text: `pyhudi.javacompat.date_parse`. Strings that do not look so, or that could be read another way, are left to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.javacompat.calendar import DAY_MS
from pyhudi.javacompat.date_pattern import Literal, Token
from pyhudi.javacompat.zones import Zone
from pyhudi.kernels.arrays.array_types import Numbers

_WIDTHS: Final = {"y": (4,), "M": (2,), "d": (2,), "H": (2,), "m": (2,), "s": (2,), "S": (1, 2, 3), "Z": (1, 2)}
_OFFSET: Final = "Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]"
_LIMITS: Final = {"M": (1, 12), "d": (1, 28), "H": (0, 23), "m": (0, 59), "s": (0, 59)}
_UNITS: Final = {"H": 3_600_000, "m": 60_000, "s": 1000}


def read_dates(strings: pa.StringArray, pattern: Sequence[Token], zone: Zone | None) -> tuple[Numbers, npt.NDArray[np.bool_]] | None:
    """Return the timestamps that strings name, in milliseconds since the epoch, and which of them could be read; None for a pattern that
    needs to be read text by text.

    Args:
        strings: what to read, without nulls.
        pattern: the only pattern, or the first of several.
        zone: where clocks show that time unless the strings have offsets; one of a fixed offset.
    """
    letters = [token for token in pattern if not isinstance(token, Literal)]
    names = [token.letter for token in letters]
    has_offset = "Z" in names
    if len(set(names)) < len(names) or "y" not in names or any(token.count not in _WIDTHS.get(token.letter, ()) for token in letters):
        return None
    if not has_offset and (zone is None or zone.fixed is None):
        return None
    groups = pc.extract_regex(strings, "^" + "".join(_expression(token) for token in pattern) + "$")
    read = pc.is_valid(groups).to_numpy(zero_copy_only=False).copy()
    parts = {name: pc.struct_field(groups, [name]) for name in names}
    millis = np.zeros(len(strings), np.int64)
    numbers = {name: _numbers(part) for name, part in parts.items() if name not in ("S", "Z")}
    for name, (lowest, highest) in _LIMITS.items():
        if name in numbers:
            read &= (numbers[name] >= lowest) & ((numbers[name] <= highest) | (name == "d"))
    year, month, day = (numbers.get(name, np.ones(len(strings), np.int64)) for name in "yMd")
    read &= day <= _first_days(year + month // 12, month % 12 + 1) - _first_days(year, month)
    millis += (_first_days(year, month) + day - 1) * DAY_MS
    for name, unit in _UNITS.items():
        if name in numbers:
            millis += numbers[name] * unit
    if "S" in parts:
        millis += _numbers(pc.utf8_rpad(parts["S"], 3, "0"))
    return millis - (_offsets(parts["Z"]) if has_offset else zone.fixed or 0 if zone else 0), read


def _expression(token: Token) -> str:
    if isinstance(token, Literal):
        return re.escape(token.text)
    digits = _OFFSET if token.letter == "Z" else f"[0-9]{{{token.count}}}"
    return f"(?P<{token.letter}>{digits})"


def _numbers(strings: pa.StringArray) -> Numbers:
    numbers: Numbers = pc.fill_null(strings, "1").cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _offsets(strings: pa.StringArray) -> Numbers:
    encoded = pc.fill_null(strings, "Z").dictionary_encode()
    known = [_offset(text) for text in encoded.dictionary.to_pylist()]
    offsets: Numbers = np.array(known, np.int64)[encoded.indices.to_numpy()] if known else np.zeros(len(strings), np.int64)
    return offsets


def _offset(text: str) -> int:
    if text == "Z":
        return 0
    millis = int(text[1:3]) * 3_600_000 + int(text[-2:]) * 60_000
    return -millis if text[0] == "-" else millis


def _first_days(year: Numbers, month: Numbers) -> Numbers:
    """Return the number of the first day of months; see `pyhudi.javacompat.calendar.day_of`."""
    years = year - (month <= 2)
    era, of_era = np.divmod(years, 400)
    of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5
    return np.asarray(era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468, np.int64)
