"""The words, names, values and symbols of a SQL condition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pyhudi.errors import UsageError

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<text>'(?:[^'\\]|\\.|'')*')
  | (?P<quoted>`(?:[^`]|``)+`|"(?:[^"]|"")+")
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><=>|<=|>=|<>|!=|==|[=<>(),.])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `value` is the number, text or name without its quotes, `start` its place in the text."""

    kind: str
    text: str
    value: object
    start: int

    def is_word(self, *words: str) -> bool:
        """Tell whether the token is one of these keywords."""
        return self.kind == "word" and self.text.upper() in words


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a condition, with an `end` token last.

    Raises:
        UsageError: a character belongs to no token, or a quote is not closed.
    """
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UsageError(f"The filter {text!r} cannot be understood from character {at + 1} on: {text[at : at + 20]!r}.")
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(Token(kind, match[0], _value(kind, match[0]), at))
        at = match.end()
    return [*tokens, Token("end", "", None, len(text))]


def _value(kind: str, text: str) -> object:
    match kind:
        case "number":
            return _number(text)
        case "text":
            return re.sub(r"\\(.)", r"\1", text[1:-1].replace("''", "'"))
        case "quoted":
            return text[1:-1].replace(text[0] * 2, text[0])
    return text


def _number(text: str) -> int | float:
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return float(Decimal(text))
