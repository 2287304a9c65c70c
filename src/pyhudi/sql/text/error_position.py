"""Shows under an error's message where in the statement's text it lies, as Spark's own errors do.

Spark's errors about a text that was made from parts of a statement (`SELECT ... FROM t WHERE <condition of the UPDATE>`) name a place in
that text; here they are moved to the place in the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pyspark.errors import PySparkException

from pyhudi.errors import HudiError, UsageError
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.sql.text.tokens import Token, name_part, tokenize

_QUOTED: Final = re.compile(r"'([^\W\d][^'\n]*)'|`([^`]+)`|\b(hoodie\.[\w.]+)")
#: The place in a short message, with the plan that Spark's analysis appends; and the place under a long one.
_SHORT_POSITION: Final = re.compile(r";? line \d+ pos \d+;?(?:\n'.*)?$", re.DOTALL)
_LONG_POSITION: Final = re.compile(r"\n?== SQL \(line \d+, position \d+\) ==\n.*?\n *\^+\n?", re.DOTALL)


def annotate(error: HudiError, text: str) -> None:
    """Append the place in a statement's text that an error is about, when the text holds what it names."""
    index = next((index for name, number in _subjects(error) if (index := _find(text, name, number)) is not None), None)
    if index is not None and error.args and "== SQL (" not in str(error.args[0]):
        error.args = (f"{error.args[0]}\n{excerpt(text, *index)}", *error.args[1:])


def relocate(error: PySparkException, text: str) -> None:
    """Let an error of Spark name the place in the user's text instead of one in a text made from its parts."""
    context = _context(error)
    message = getattr(error, "_desc", None)
    if context is None or not isinstance(message, str):
        return
    made = jvm.value_of(context.sqlText())
    index = None if made is None or made == text else _relocate(made, context.startIndex(), context.stopIndex() + 1, text)
    if index is None:
        return
    bare = _SHORT_POSITION.sub("", _LONG_POSITION.sub("", message)).rstrip()
    error.__dict__["_desc"] = f"{bare}\n{excerpt(text, *index)}"


def excerpt(text: str, start: int, end: int) -> str:
    """Return the lines of a text that a part is in, with a mark under each.

    Example:
        >>> print(excerpt("SELECT x FROM t", 7, 8))
        == SQL (line 1, position 8) ==
        SELECT x FROM t
               ^
    """
    first = text.count("\n", 0, start) + 1
    begin = text.rfind("\n", 0, start) + 1
    lines = []
    for line in text[begin:].splitlines():
        if begin >= end:
            break
        left, right = max(start, begin) - begin, min(end, begin + len(line)) - begin
        lines += [line, " " * left + "^" * (right - left)]
        begin += len(line) + 1
    return "\n".join([f"== SQL (line {first}, position {start - text.rfind(chr(10), 0, start)}) ==", *lines])


def _subjects(error: HudiError) -> Iterator[tuple[str, int]]:
    """Yield what the error is about: as it says itself, else what its message quotes and the options that it names."""
    if error.subject is not None:
        yield error.subject
    for match in _QUOTED.finditer(str(error.args[0]) if error.args else ""):
        yield next(filter(None, match.groups())), 0


def _find(text: str, name: str, number: int) -> tuple[int, int] | None:
    try:
        tokens = tokenize(text)
    except UsageError:
        return None
    matches = [span for i in range(len(tokens)) if (span := _find_name(tokens, i, name)) is not None]
    return matches[min(number, len(matches) - 1)] if matches else None


def _find_name(tokens: list[Token], at: int, name: str) -> tuple[int, int] | None:
    """Return the span of a name if it begins at a token: a word, a quoted name, a literal, or several with dots between them."""
    token = tokens[at]
    if token.text[0] in "'\"":
        return (token.start, token.end) if token.text[1:-1].lower() == name.lower() else None
    end, parts = at, [name_part(token)]
    while ".".join(parts).lower() != name.lower() and end + 2 < len(tokens) and tokens[end + 1].text == ".":
        end += 2
        parts.append(name_part(tokens[end]))
    return (token.start, tokens[end].end) if ".".join(parts).lower() == name.lower() else None


def _context(error: PySparkException) -> JavaObject | None:
    origin = getattr(error, "_origin", None)
    contexts = [] if origin is None or not hasattr(origin, "getQueryContext") else list(origin.getQueryContext() or ())
    return contexts[0] if contexts and contexts[0].contextType().name() == "SQL" else None


def _relocate(made: str, start: int, end: int, text: str) -> tuple[int, int] | None:
    """Return where in the user's text the part of a made one stands: of several places the one with the most of its surroundings."""
    part = made[start:end]
    indices = [match.start() for match in re.finditer(re.escape(part), text)] if part else []
    if not indices:
        return None
    best = max(
        indices, key=lambda position: _alike(made[end:], text[position + len(part) :]) + _alike(made[:start][::-1], text[:position][::-1])
    )
    return best, best + len(part)


def _alike(left: str, right: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
