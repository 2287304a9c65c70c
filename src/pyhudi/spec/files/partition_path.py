"""Partition paths: built from values, taken apart again, and kept inside the table.

Rules: `PartitionPathEncodeUtils`, `KeyGenUtils.getPartitionPath`. Without URL encoding a value may hold `/` and so
make deeper folders; a value that would leave the table is refused (compare apache/hudi#19342).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Final

from pyhudi.errors import KeyFieldError

#: MarkLive for a null or empty value.
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

#: The longest name of a file in the usual file systems of Linux and macOS, and in HDFS by default.
_MAX_SEGMENT_BYTES: Final = 255

_ESCAPED = frozenset(map(chr, range(0x20))) | frozenset("\x7f\"#%'*/:=?\\{[]^")
_ESCAPE_SEQUENCE = re.compile(r"%([0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DECODING_ROUNDS = 3


def escape_value(value: str) -> str:
    """Return a value as it is in a URL-encoded partition path.

    Example:
        >>> escape_value("a/b c")
        'a%2Fb c'
    """
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in value)


def unescape_value(text: str) -> str:
    """Undo `escape_value`; `%` that starts no escape stays."""
    return _ESCAPE_SEQUENCE.sub(lambda match: chr(int(match[1], 16)), text)


def build(fields: Sequence[str], values: Sequence[str | None], *, hive_style: bool, url_encode: bool, slashed: Collection[str] = ()) -> str:
    """Return the partition path of one row; values are strings, None and `""` become the default partition.

    Values of the fields `slashed` get a folder for each part of a date: `2026-01-02` becomes `2026/01/02`.

    Raises:
        KeyFieldError: the path would not be a place inside the table.

    Example:
        >>> build(["city", "day"], ["Paris", None], hive_style=True, url_encode=False)
        'city=Paris/day=__HIVE_DEFAULT_PARTITION__'
    """
    path = _join_segments(fields, values, slashed, hive_style=hive_style, url_encode=url_encode)
    try:
        check_new(path)
    except KeyFieldError as error:
        encoded = _join_segments(fields, values, slashed, hive_style=hive_style, url_encode=True)
        cure = ", or create the table with hoodie.datasource.write.partitionpath.urlencode=true" if _is_path_inside(encoded) else ""
        raise KeyFieldError(f"{error}; change the value{cure}") from None
    return path


def _join_segments(
    fields: Sequence[str], values: Sequence[str | None], slashed: Collection[str], *, hive_style: bool, url_encode: bool
) -> str:
    segments = []
    for field, value in zip(fields, values, strict=True):
        text = DEFAULT_PARTITION if not value else escape_value(value) if url_encode else value
        text = text.replace("-", "/") if field in slashed else text
        segments.append(f"{field}={text}" if hive_style else text)
    return "/".join(segments)


def _is_path_inside(path: str) -> bool:
    try:
        check_new(path)
    except KeyFieldError:
        return False
    return True


def parse(path: str, fields: Sequence[str], *, hive_style: bool, url_encode: bool, slash_dates: bool = False) -> tuple[str | None, ...]:
    """Return the value text of each partition field, None for the default partition.

    With `slash_dates` the folders of the one field are the parts of a date: `2026/01/02` is `2026-01-02`.

    Raises:
        KeyFieldError: the path cannot be taken apart into these fields without guessing.

    Example:
        >>> parse("city=Paris/day=2026-01-01", ["city", "day"], hive_style=True, url_encode=False)
        ('Paris', '2026-01-01')
    """
    if not fields:
        return ()
    if hive_style:
        strings = _split_hive(path, fields)
    else:
        strings = [path.replace("/", "-") if slash_dates else path] if len(fields) == 1 else path.split("/")
        if len(strings) != len(fields):
            names = ", ".join(fields)
            raise KeyFieldError(f"partition path '{path}' has {len(strings)} segments for the partition fields {names}")
    return tuple(_value(text, url_encode=url_encode) for text in strings)


def _split_hive(path: str, fields: Sequence[str]) -> list[str]:
    names = "/".join(f"{re.escape(field)}=(.*)" for field in fields)
    match = re.fullmatch(names, path, re.DOTALL)
    if match is None:
        expected = "/".join(f"{field}=<value>" for field in fields)
        raise KeyFieldError(f"partition path '{path}' does not have the form {expected}")
    return list(match.groups())


def _value(text: str, *, url_encode: bool) -> str | None:
    if text in {DEFAULT_PARTITION, ""}:
        return None
    return unescape_value(text) if url_encode else text


def check(path: str) -> None:
    """Refuse a partition path that is not a plain folder inside the table; `""` is the table itself and fine.

    Raises:
        KeyFieldError: the path climbs (`..`), is absolute, has empty segments, control characters or backslashes,
            or points into `.hoodie`; also when it would do so after URL decoding or Unicode normalisation.
    """
    if not path:
        return
    if path.startswith("/") or _SCHEME.match(path):
        raise KeyFieldError(_refusal(path, "it is absolute"))
    if "\\" in path:
        raise KeyFieldError(_refusal(path, "it holds a backslash"))
    if _CONTROL.search(path):
        raise KeyFieldError(_refusal(path, "it holds a control character"))
    if "" in path.split("/"):
        raise KeyFieldError(_refusal(path, "it has an empty segment"))
    _check_segments(path, path)
    if not path.isascii():
        _check_segments(unicodedata.normalize("NFKC", path), path)
    decoded = path
    for _ in range(_DECODING_ROUNDS):
        if "%" not in decoded:
            return
        decoded = unescape_value(decoded)
        _check_segments(decoded, path)


def check_new(path: str) -> None:
    """Refuse what `check` refuses, and a path that no file system can hold as a folder: a table shall be written to, and copied, anywhere.

    Raises:
        KeyFieldError: as in `check`; or a segment has more than 255 bytes in UTF-8.
    """
    check(path)
    if any(len(segment.encode()) > _MAX_SEGMENT_BYTES for segment in path.split("/")):
        raise KeyFieldError(_refusal(path, f"a segment has more than {_MAX_SEGMENT_BYTES} bytes, the longest name of a folder"))


def _check_segments(form: str, path: str) -> None:
    segments = re.split(r"[/\\]", form)
    # A hive-style segment carries the value after `field=`; the folder is harmless, but the value is not once taken
    # out.
    strings = {text for segment in segments for text in (segment, segment.partition("=")[2])}
    if strings & {"..", "."}:
        raise KeyFieldError(_refusal(path, "it has a '.' or '..' segment"))
    if segments[0] == ".hoodie":
        raise KeyFieldError(_refusal(path, "'.hoodie' is the table's own folder"))
    if "\x00" in form:
        raise KeyFieldError(_refusal(path, "it holds a NUL character"))


def _refusal(path: str, reason: str) -> str:
    return f"partition path {path!r} is refused: {reason}"
