"""Where words, strings, names and brackets are in a SQL text, as Spark's lexer sees them.

Spark's parser says what a statement means; this module finds the positions of its clauses, so that a part can be handed to
Spark again word by word (with its parameters and comments). Comments and white space are left out. Rules: Spark's
`SqlBaseLexer.g4`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import UsageError

_SPACE = re.compile(r"\s+")
_LINE_COMMENT = re.compile(r"--(?:\\\n|[^\r\n])*")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_STRING = re.compile(r"'(?:\\.|''|[^'\\])*'" + "|" + r'"(?:\\.|""|[^"\\])*"', re.DOTALL)
_RAW_STRING = re.compile(r"[rR](?:'[^']*'|\"[^\"]*\")")
_QUOTED_NAME = re.compile(r"`(?:[^`]|``)*`")
_WORD = re.compile(r"\w+")
#: A text literal that says what is in it, without escapes.
PLAIN_TEXT: Final = re.compile(r"'[^'\\]*'")
_OPEN, _CLOSE = "([", ")]"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its text and position (`end` is the position after it)."""

    text: str
    start: int
    end: int
    depth: int  # of brackets around it; a bracket has the depth outside it

    def is_word(self, *words: str) -> bool:
        """Return whether the token is one of the words, which are given in upper case."""
        return self.text.upper() in words


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text that Spark's parser accepts.

    Raises:
        UsageError: a string, quoted name or comment has no end.
    """
    tokens: list[Token] = []
    depth = 0
    for start, end in scan(text):
        token_text = text[start:end]
        if token_text in _CLOSE:
            depth -= 1
        tokens.append(Token(token_text, start, end, depth))
        if token_text in _OPEN:
            depth += 1
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    return tokens


def scan(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each token begins and ends.

    Raises:
        UsageError: a string, quoted name or comment has no end.
    """
    at = 0
    while at < len(text):
        if (skipped := _SPACE.match(text, at) or _LINE_COMMENT.match(text, at)) is not None:
            at = skipped.end()
        elif text.startswith("/*", at) and not text.startswith("/*+", at):
            at = _comment_end(text, at)
        else:
            end = _token_end(text, at)
            yield at, end
            at = end


def _token_end(text: str, at: int) -> int:
    if (raw := _RAW_STRING.match(text, at)) is not None:
        return raw.end()
    for opening, pattern in (("'\"", _STRING), ("`", _QUOTED_NAME)):
        if text[at] in opening:
            match = pattern.match(text, at)
            if match is None:
                raise UsageError(f"The SQL text has an opening {text[at]} at position {at} and no closing one.")
            return match.end()
    word = _WORD.match(text, at)
    return word.end() if word is not None else at + 1


def _comment_end(text: str, at: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, at):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise UsageError(f"The SQL text has a comment that opens at position {at} and does not end.")


def find_word(tokens: Sequence[Token], *words: str, after: int = 0) -> int | None:
    """Return the index of the first of `words` outside brackets, from index `after` on."""
    matches = (i for i in range(after, len(tokens)) if tokens[i].depth == 0 and tokens[i].is_word(*words))
    return next(matches, None)


def split(tokens: Sequence[Token], separator: str) -> list[Sequence[Token]]:
    """Return the runs of tokens between separators, signs or words, that are outside brackets."""
    cuts = [i for i, token in enumerate(tokens) if token.depth == 0 and token.is_word(separator)]
    edges = [-1, *cuts, len(tokens)]
    return [tokens[left + 1 : right] for left, right in itertools.pairwise(edges)]


def inside(tokens: Sequence[Token]) -> list[Token]:
    """Return what is between the outer brackets, as if there were none."""
    return [Token(token.text, token.start, token.end, token.depth - 1) for token in tokens[1:-1]]


def slice_text(text: str, tokens: Sequence[Token]) -> str:
    """Return the text from the first to the last of the tokens, as it was written."""
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def name_part(token: Token) -> str:
    """Return the name that a plain or quoted name token states."""
    if token.text.startswith("`"):
        return token.text[1:-1].replace("``", "`")
    return token.text


def name_at(tokens: Sequence[Token], start: int) -> tuple[str, ...]:
    """Return the parts of the name that begins at a token, such as `db.t`."""
    parts = [name_part(tokens[start])]
    while start + 2 < len(tokens) and tokens[start + 1].text == ".":
        start += 2
        parts.append(name_part(tokens[start]))
    return tuple(parts)


def text_literal(text: str) -> str:
    """Return a text as a SQL literal, with backslashes before quotes and backslashes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quote(name: str) -> str:
    """Return a name between backticks.

    Example:
        >>> quote("order")
        '`order`'
    """
    return "`" + name.replace("`", "``") + "`"
