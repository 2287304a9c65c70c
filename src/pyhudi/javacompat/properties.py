"""Java `.properties` files as `hoodie.properties` and partition metafiles use them.

Rules: `java.util.Properties.load` and `.store`; the order of keys is that of a `ConcurrentHashMap`, as Hudi on Java
9 and later leaves it. Order means nothing to readers; it is kept so that files compare equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from pyhudi.errors import CorruptTableError

_NATURAL_END = re.compile(rb"\r\n|\r|\n")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LETTER_OF = {char: letter for letter, char in _LETTERS.items()}
_BLANKS = " \t\f"
_BACKSLASH = "\\"
#: Characters that a file does not hold as they are.
_ESCAPED = re.compile(r"[^ -~]|[\\:=#!]")
#: Files whose entries are known: a commit reads the same properties several times.
_MOST_FILES = 64


def parse_properties(data: bytes) -> dict[str, str]:
    r"""Return the entries of a `.properties` file, in file order; of a repeated key the last value counts.

    Raises:
        CorruptTableError: an escape is cut off or is no hexadecimal number.

    Example:
        >>> parse_properties(b"#comment\nname = a\\:b\n")
        {'name': 'a:b'}
    """
    return dict(_entries(data))


@lru_cache(maxsize=_MOST_FILES)
def _entries(data: bytes) -> tuple[tuple[str, str], ...]:
    pairs = (_split(line) for line in _logical_lines(data))
    return tuple((_unescape(key), _unescape(value)) for key, value in pairs)


def _logical_lines(data: bytes) -> Iterator[str]:
    """Yield lines without comments and leading blanks; a line that ends with an odd number of backslashes continues."""
    begun: str | None = None
    for raw in _NATURAL_END.split(data):
        text = raw.decode("latin-1").lstrip(_BLANKS)
        if begun is None:
            if not text or text[0] in "#!":
                continue
        else:
            text = begun + text
        backslashes = len(text) - len(text.rstrip(_BACKSLASH))
        if backslashes % 2:
            begun = text[:-1]
        else:
            begun = None
            yield text
    if begun:
        yield begun


def _split(line: str) -> tuple[str, str]:
    """Cut a line at the first separator (`=`, `:` or blanks) that is not escaped."""
    at = 0
    while at < len(line) and line[at] not in "=:" + _BLANKS:
        at += 2 if line[at] == _BACKSLASH else 1
    rest = line[at:].lstrip(_BLANKS)
    if rest[:1] in {"=", ":"}:
        rest = rest[1:].lstrip(_BLANKS)
    return line[:at], rest


def _unescape(text: str) -> str:
    if _BACKSLASH not in text:
        return text
    file_slices = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != _BACKSLASH:
            file_slices.append(char)
            continue
        escaped = text[at : at + 1]
        at += 1
        if escaped == "u":
            digits = text[at : at + 4]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                raise CorruptTableError(f"'\\u{digits}' in a properties file is no Unicode escape: the file is damaged")
            file_slices.append(chr(int(digits, 16)))
            at += 4
        else:
            file_slices.append(_LETTERS.get(escaped, escaped))
    # Characters beyond the basic plane come as two escapes.
    return "".join(file_slices).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def render_properties(entries: Mapping[str, str], saved_at: datetime, *, updated: bool) -> bytes:
    """Return `hoodie.properties` as Hudi writes it.

    Args:
        entries: keys and values.
        saved_at: aware time for the two comment lines.
        updated: the file existed before (Hudi words the first comment line differently then).
    """
    word = "Updated at" if updated else "Properties saved on"
    return render_lines(f"{word} {_iso_instant(saved_at)}", [(key, entries[key]) for key in hash_order(entries)], saved_at)


def render_lines(comment: str, entries: Iterable[tuple[str, str]], saved_at: datetime) -> bytes:
    """Return a `.properties` file with the given comment, Java's date line, and the entries in their order."""
    lines = [f"#{comment}", f"#{_java_date(saved_at)}"]
    lines += [f"{_escape(key, all_blanks=True)}={_escape(value, all_blanks=False)}" for key, value in entries]
    return ("\n".join(lines) + "\n").encode("latin-1")


def _escape(text: str, *, all_blanks: bool) -> str:
    escaped = _ESCAPED.sub(lambda match: _escape_char(match[0]), text)
    if all_blanks:
        return escaped.replace(" ", "\\ ")
    return "\\" + escaped if escaped.startswith(" ") else escaped


def _escape_char(char: str) -> str:
    if char in "\\:=#!":
        return _BACKSLASH + char
    if char in _LETTER_OF:
        return _BACKSLASH + _LETTER_OF[char]
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def hash_order(keys: Iterable[str]) -> list[str]:
    """Return the keys in the order in which a Java `ConcurrentHashMap` of that many keys yields them."""
    listed = list(keys)
    size = 8
    while len(listed) >= size * 3 // 4:
        size *= 2
    return sorted(listed, key=lambda key: _spread(key) & (size - 1))


def _spread(text: str) -> int:
    """Return Java's `String.hashCode`, spread as `ConcurrentHashMap` does."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for at in range(0, len(units), 2):
        code = (31 * code + (units[at] << 8) + units[at + 1]) & 0xFFFFFFFF
    return (code ^ (code >> 16)) & 0x7FFFFFFF


def _iso_instant(at: datetime) -> str:
    """Return `java.time.Instant.toString`: the fraction in none, three or six digits."""
    utc = at.astimezone(UTC)
    fraction = f".{utc.microsecond:06d}" if utc.microsecond else ""
    return f"{utc:%Y-%m-%dT%H:%M:%S}{fraction.removesuffix('000')}Z"


def _java_date(at: datetime) -> str:
    """Return `java.util.Date.toString` in UTC; names are English whatever the locale of this process."""
    utc = at.astimezone(UTC)
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[utc.weekday()]
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{day} {months[utc.month - 1]} {utc.day:02d} {utc:%H:%M:%S} UTC {utc.year:04d}"
