"""Date patterns such as `yyyy-MM-dd'T'HH`, taken apart.

Rules: `DateTimeFormat` of Joda-Time, whose patterns the options of the timestamp key generator are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError

_LETTERS: Final = frozenset("GCxweEYyDMdaKhHkmsSzZ")
_NUMBERS: Final = frozenset("CxyYdhHmsSeDwkK")
#: From here on a month is written as a name.
_NAMED_MONTH: Final = 3
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HALF_DAYS: Final = ("AM", "PM")
ERAS: Final = ("BC", "AD")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Letters:
    """A run of one letter; `before_number` when digits follow it directly."""

    letter: str
    count: int
    before_number: bool = False

    @property
    def is_number(self) -> bool:
        """True when it stands for digits."""
        return self.letter in _NUMBERS or (self.letter == "M" and self.count < _NAMED_MONTH)


Token = Literal | Letters


def parse_pattern(pattern: str) -> tuple[Token, ...]:
    """Return the tokens of a pattern.

    Raises:
        OptionError: it is empty or has a letter without meaning; names it.

    Example:
        >>> parse_pattern("HH'h'")
        (Letters(letter='H', count=2, before_number=False), Literal(text='h'))
    """
    if not pattern:
        raise OptionError("a date pattern is empty; give one such as yyyy-MM-dd.")
    tokens: list[Token] = []
    index = 0
    while index < len(pattern):
        letter = pattern[index]
        if letter.isascii() and letter.isalpha():
            end = index
            while end < len(pattern) and pattern[end] == letter:
                end += 1
            tokens.append(_letters(letter, end - index, pattern))
        else:
            text, end = _literal(pattern, index)
            tokens.append(Literal(text))
        index = end
    return tuple(_with_neighbours(tokens))


def _letters(letter: str, count: int, pattern: str) -> Letters:
    if letter not in _LETTERS:
        raise OptionError(
            f"date pattern '{pattern}' has the letter '{letter}', which means nothing there. Letters that mean something are"
            f" {''.join(sorted(_LETTERS))}; put text into single quotes."
        )
    return Letters(letter, count)


def _literal(pattern: str, begin: int) -> tuple[str, int]:
    """Return text up to the next letter outside of quotes, and where it ends; two quotes are one."""
    text, quoted, index = "", False, begin
    while index < len(pattern):
        char = pattern[index]
        if char == "'":
            if pattern[index + 1 : index + 2] == "'":
                text += "'"
                index += 1
            else:
                quoted = not quoted
        elif not quoted and char.isascii() and char.isalpha():
            break
        else:
            text += char
        index += 1
    return text, index


def _with_neighbours(tokens: list[Token]) -> list[Token]:
    following = [*tokens[1:], Literal("")]
    return [
        Letters(token.letter, token.count, before_number=isinstance(after, Letters) and after.is_number)
        if isinstance(token, Letters)
        else token
        for token, after in zip(tokens, following, strict=True)
    ]
