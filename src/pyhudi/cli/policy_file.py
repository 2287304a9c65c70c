"""Reads policy files: JSON, TOML, and of YAML the part that policies need.

That part is block mappings and block lists by indentation, flow lists of scalars (`[clean, archive]`), plain and quoted scalars and
comments; anything else is refused with its line, never taken for something that it is not.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyhudi.errors import OptionError, UsageError

_KEY: Final = re.compile(r"""(?P<key>"[^"]*"|'[^']*'|[A-Za-z0-9_.$/-]+)\s*:(?:\s+(?P<value>.*))?$""")
_REFUSED: Final = ("{", "}", "&", "*", "!", "|", ">", "%", "@", "`")
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None}


def load_policy_file(path: str) -> object:
    """Return what a policy file states; its ending says which format it has, `.json`, `.toml`, or YAML.

    Raises:
        UsageError: it cannot be read.
        OptionError: it is not well-formed; the message names the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the policy file {path} cannot be read: {error}") from error
    try:
        if path.endswith(".json"):
            return json.loads(text)
        return tomllib.loads(text) if path.endswith(".toml") else parse_yaml(text)
    except ValueError as error:
        raise OptionError(f"the policy file {path} is not well-formed: {error}") from error


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def parse_yaml(text: str) -> object:
    """Return the value that a document of the supported part of YAML states.

    Raises:
        ValueError: it is not well-formed, or not of that part; the message names the line.
    """
    lines: list[_Line] = []
    for number, raw in enumerate(text.splitlines(), 1):
        content = _without_comment(raw)
        if not content.strip() or (content.strip() == "---" and not lines):
            continue
        if "\t" in content[: len(content) - len(content.lstrip())]:
            raise ValueError(f"line {number}: indentation is by spaces, not by tabs")
        lines.append(_Line(number, len(content) - len(content.lstrip()), content.strip()))
    if not lines:
        return {}
    value, end = _block(lines, 0, lines[0].indent)
    if end < len(lines):
        raise ValueError(f"line {lines[end].number}: '{lines[end].text}' has another indentation than the lines before it")
    return value


def _block(lines: Sequence[_Line], start: int, indent: int) -> tuple[object, int]:
    return _list(lines, start, indent) if _is_item(lines[start]) else _mapping(lines, start, indent)


def _is_item(line: _Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


def _list(lines: Sequence[_Line], start: int, indent: int) -> tuple[list[object], int]:
    result: list[object] = []
    at = start
    while at < len(lines) and lines[at].indent == indent and _is_item(lines[at]):
        line = lines[at]
        rest = line.text[1:].strip()
        if _KEY.match(rest) is not None:  # a mapping that begins behind the dash
            inner = indent + len(line.text) - len(rest)
            nested = [_Line(line.number, inner, rest), *lines[at + 1 :]]
            mapping, used = _mapping(nested, 0, inner)
            result.append(mapping)
            at += used
        elif rest:
            result.append(_scalar(rest, line.number))
            at += 1
        else:
            value, at = _nested(lines, at, indent)
            result.append(value)
    return result, at


def _mapping(lines: Sequence[_Line], start: int, indent: int) -> tuple[dict[str, object], int]:
    result: dict[str, object] = {}
    at = start
    while at < len(lines) and lines[at].indent == indent and not _is_item(lines[at]):
        line = lines[at]
        match = _KEY.match(line.text)
        if match is None:
            raise ValueError(f"line {line.number}: '{line.text}' is no 'key: value'")
        key = match["key"].strip("\"'")
        if key in result:
            raise ValueError(f"line {line.number}: '{key}' is stated twice")
        if match["value"]:
            result[key], at = _scalar(match["value"].strip(), line.number), at + 1
        else:
            result[key], at = _nested(lines, at, indent, lists_may_align=True)
    return result, at


def _nested(lines: Sequence[_Line], at: int, indent: int, *, lists_may_align: bool = False) -> tuple[object, int]:
    """Return the block below a line, None when there is none."""
    following = at + 1
    if following < len(lines):
        line = lines[following]
        if line.indent > indent or (lists_may_align and line.indent == indent and _is_item(line)):
            return _block(lines, following, line.indent)
    return None, following


def _scalar(text: str, number: int) -> Any:
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError(f"line {number}: a list that begins with [ must end with ] on the same line")
        inner = text[1:-1].strip()
        return [_scalar(part.strip(), number) for part in inner.split(",")] if inner else []
    if text[0] in "\"'":
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1] or "\\" in text:
            raise ValueError(f"line {number}: {text} is no quoted text without quotes and backslashes in it")
        return text[1:-1]
    if text.startswith(_REFUSED) or ": " in text:
        raise ValueError(f"line {number}: '{text}' is of a part of YAML that policies do not use; put strings into quotes")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else text


def _without_comment(line: str) -> str:
    """Return a line without the comment at its end; a # inside quotes or a word is none."""
    quote = ""
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (at == 0 or line[at - 1] in " [,"):
            quote = character
        elif character == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at].rstrip()
    return line.rstrip()
