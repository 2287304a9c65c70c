"""What values an option can have, by the kind and the choices of its key."""

from __future__ import annotations

import re

from pyhudi.errors import OptionError, with_subject
from pyhudi.spec.config.config_key import ConfigKey, Kind

#: As Java reads numbers; Python would also take `1_000`.
_WHOLE = re.compile(r"[+-]?0*[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def check_value(key: ConfigKey, name: str, value: str) -> None:
    """Check a value by what its key takes.

    Raises:
        OptionError: the key cannot have it; the message says what it can be.
    """
    if key.choices and value.strip().lower() not in {choice.lower() for choice in key.choices}:
        raise with_subject(OptionError(f"{name}={value} is not possible: it can be {', '.join(key.choices)}"), value)
    if not _has_kind(value.strip(), key.kind):
        raise with_subject(OptionError(f"{name}={value} is not possible: it takes {key.kind.value}"), value)


def _has_kind(value: str, kind: Kind) -> bool:
    if kind is Kind.TEXT:
        return True
    if kind is Kind.FLAG:
        return value.lower() in {"true", "false"}
    is_whole = kind not in {Kind.NUMBER, Kind.FRACTION}
    if not (_WHOLE if is_whole else _NUMBER).fullmatch(value):
        return False
    # A float cannot hold the greatest long, which Apache Hudi has as a default.
    number = int(value) if is_whole else float(value)
    if abs(number) >= 1 << 63:
        return False
    if kind is Kind.FRACTION:
        return 0 < number < 1
    return kind is Kind.INTEGER or number > 0 or (kind in {Kind.NUMBER, Kind.COUNT} and number == 0)
