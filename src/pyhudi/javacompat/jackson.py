"""JSON text as the Jackson library prints it: the style of all of Hudi's JSON files.

Two blanks per level, ` : ` after names, arrays inline, `{ }` and `[ ]` when empty, no newline at the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyhudi.errors import CorruptTableError

_MUST_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def render_json(value: object) -> bytes:
    """Return JSON text in Jackson's default pretty style, as UTF-8."""
    return _render(value, 0).encode()


def parse_json(data: bytes) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises:
        CorruptTableError: the bytes are no JSON object in UTF-8, or nested too deeply.
    """
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise CorruptTableError(f"the JSON is cut off or damaged ({error})") from None
    if not isinstance(value, dict):
        raise CorruptTableError(f"the JSON is a {type(value).__name__}, expected is an object")
    return value


def _render(value: object, level: int) -> str:
    if isinstance(value, str):
        return f'"{_MUST_ESCAPE.sub(_escape, value)}"'
    if isinstance(value, Mapping):
        return _render_object(value, level)
    if isinstance(value, Sequence):
        return f"[ {', '.join(_render(item, level) for item in value)} ]" if value else "[ ]"
    return json.dumps(value)


def _render_object(value: Mapping[str, object], level: int) -> str:
    if not value:
        return "{ }"
    indent = "  " * (level + 1)
    members = [f"{indent}{_render(name, 0)} : {_render(member, level + 1)}" for name, member in value.items()]
    return "{\n" + ",\n".join(members) + "\n" + "  " * level + "}"


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0], f"\\u{ord(match[0]):04X}")
