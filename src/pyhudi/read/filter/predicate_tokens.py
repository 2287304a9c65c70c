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
  | (?P<symbol><=>|<=|>=|<>|!=|==|\|\||[=<>(),.+*/%-])
    """,
    re.VERBOSE,
)

#: Escapes of Spark's strings (`SparkParserUtils.unescapeSQLString`).
_ESCAPED: Final = re.compile(r"''|\\(u[0-9A-Fa-f]{4}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[01][0-7]{2}|.)", re.DOTALL)
_CONTROLS: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `value` is the text or name without its quotes, `start` its place in the text."""

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
        case "text":
            return _ESCAPED.sub(_unescape, text[1:-1])
        case "quoted":
            return text[1:-1].replace(text[0] * 2, text[0])
    return text


def number_of(text: str) -> int | Decimal:
    """Return the number that a token stands for, exactly.

    Raises:
        UsageError: its exponent is beyond all numbers.
    """
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else Decimal(text)
    except (ValueError, ArithmeticError):
        raise UsageError(f"The filter has the number {text[:40]}, which is too long.") from None


def _unescape(match: re.Match[str]) -> str:
    if match[0] == "''":
        return "'"
    rest = match[1]
    if len(rest) == 1:  # what LIKE has for a plain % and _ stays
        return match[0] if rest in "%_" else _CONTROLS.get(rest, rest)
    return chr(int(rest[1:], 16)) if rest[0] in "uU" else chr(int(rest, 8))
