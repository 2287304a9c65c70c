"""SQL text of a filter or of a value -> sqlglot's syntax tree, and errors that show the position.

The dialect is that of sqlglot without its rewriting of functions: names and arguments stay as they are written. Double quotes and backticks
quote names. Strings are read from the text, with the escapes of Spark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError

from pyhudi.errors import UsageError

_DEEPEST: Final = 200
#: Characters of the line of an error that are shown before and after it.
_SHOWN_CHARACTERS: Final = 60
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`""", re.DOTALL)
#: Escapes of Spark's strings (`SparkParserUtils.unescapeSQLString`).
_ESCAPED: Final = re.compile(r"''|\\(u[0-9A-Fa-f]{4}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[01][0-7]{2}|.)", re.DOTALL)
#: What the nodes of the tree may hold; anything else is part of a grammar that is not served.
_KNOWN_ARGUMENTS: Final = frozenset(
    {"this", "expression", "expressions", "table", "db", "catalog", "quoted", "is_string", "safe", "typed", "coalesce", "to", "nested"}
    | {"low", "high", "symmetric", "ifs", "default", "true", "false", "negate", "query", "unnest", "field", "kind"}
)
_CONTROLS: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


class _Filters(Dialect):
    """SQL of filters."""

    class Tokenizer(sqlglot.Tokenizer):
        """Quotes."""

        IDENTIFIERS = ['"', "`"]  # noqa: RUF012 - sqlglot reads it so
        QUOTES = ["'"]  # noqa: RUF012
        STRING_ESCAPES = ["'", "\\"]  # noqa: RUF012

    class Parser(sqlglot.Parser):
        """Functions as they are written; only CAST has a grammar of its own."""

        FUNCTIONS = {}  # noqa: RUF012
        FUNCTION_PARSERS = {"CAST": sqlglot.Parser.FUNCTION_PARSERS["CAST"]}  # noqa: RUF012
        NO_PAREN_FUNCTIONS = {}  # noqa: RUF012


@dataclass(frozen=True, slots=True)
class SqlText:
    """The text, and what it is, such as `filter`, for messages."""

    text: str
    what: str

    def parse(self) -> exp.Expr:
        """Return the tree.

        Raises:
            UsageError: the text is no expression of SQL, or nests too deep.
        """
        self._check_depth()
        tree = self._tree()
        for node in tree.walk():
            for name, value in node.args.items():
                if value and name not in _KNOWN_ARGUMENTS:
                    raise self.error(f"has {name.upper()} in {type(node).__name__.upper()}, which is not served", node)
        return tree

    def _tree(self) -> exp.Expr:
        try:
            tree = sqlglot.parse_one(self.text, dialect=_Filters)
        except ParseError as error:
            raise self._parse_error(error) from None
        except TokenError:
            raise self.error("cannot be understood", self._unclosed_quote()) from None
        except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, IndexError, KeyError):
            # sqlglot fails with any of these on a text that is far from SQL.
            raise self.error("cannot be understood", 0) from None
        if isinstance(tree, exp.Alias):
            raise self.error(f"has an unexpected '{tree.alias}'", tree.args["alias"])
        if isinstance(tree, exp.Block):
            raise self.error("is more than one expression", tree.expressions[-1])
        return tree

    def error(self, problem: str, node: exp.Expr | int | None, hint: str = "") -> UsageError:
        """Return the error of a problem at a node of the tree, or at a position of the text, with the sentence of `did_you_mean`."""
        position = node if isinstance(node, int) else span_of(node)[0]
        begin = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        line = self.text[begin : end if end >= 0 else len(self.text)]
        first = max(0, position - begin - _SHOWN_CHARACTERS)
        excerpt = line[first : position - begin + _SHOWN_CHARACTERS]
        caret = " " * (position - begin - first) + "^"
        return UsageError(f"The {self.what} {problem}, at character {position + 1}{'.' + hint if hint else ':'}\n  {excerpt}\n  {caret}")

    def source(self, node: exp.Expr) -> str:
        """Return the text of a literal or a name."""
        begin, end = span_of(node)
        return self.text[begin:end]

    def string(self, literal: exp.Expr) -> str:
        """Return the value of a literal string."""
        return _ESCAPED.sub(_unescape, self.source(literal)[1:-1])

    def number(self, literal: exp.Expr) -> int | Decimal:
        """Return the value of a literal number, exactly.

        Raises:
            UsageError: its exponent is beyond all numbers.
        """
        text = self.source(literal)
        try:
            return int(text) if text.isdecimal() else Decimal(text)
        except (ValueError, ArithmeticError):
            raise self.error(f"has the number {text[:40]}, which is too long", literal) from None

    def _check_depth(self) -> None:
        depth = 0
        for letter in _QUOTED.sub("", self.text):
            depth += (letter == "(") - (letter == ")")
            if depth > _DEEPEST:
                raise UsageError(f"The {self.what} nests brackets deeper than {_DEEPEST} levels.")

    def _parse_error(self, error: ParseError) -> UsageError:
        if not error.errors:
            return self.error("is empty", 0)
        first = error.errors[0]
        lines = self.text.split("\n")
        token, line = str(first.get("highlight") or ""), int(first.get("line") or 1)
        end = sum(len(one) + 1 for one in lines[: line - 1]) + int(first.get("col") or 0)
        position = min(max(0, end - len(token)), len(self.text))
        description = str(first.get("description") or "")
        if description.startswith("Required keyword"):
            return self.error(f"misses an operand of '{token}'", position)
        if description.startswith("Expecting") and len(description) <= len("Expecting )"):
            return self.error(f"misses '{description.removeprefix('Expecting ')}' after '{token}'", position)
        return self.error(f"has an unexpected '{token}'", position)

    def _unclosed_quote(self) -> int:
        """Return where a quote begins that has no end."""
        blank = _QUOTED.sub(lambda match: " " * len(match[0]), self.text)
        return min((position for quote in "'\"`" if (position := blank.find(quote)) >= 0), default=0)


def span_of(node: exp.Expr | None) -> tuple[int, int]:
    """Return where the first token of a node that has a position begins and ends."""
    spans = [(one.meta["start"], one.meta["end"] + 1) for one in ([] if node is None else node.walk()) if "start" in one.meta]
    return min(spans, default=(0, 0))


def _unescape(match: re.Match[str]) -> str:
    if match[0] == "''":
        return "'"
    rest = match[1]
    if len(rest) == 1:  # what LIKE has for a plain % and _ stays
        return match[0] if rest in "%_" else _CONTROLS.get(rest, rest)
    return chr(int(rest[1:], 16)) if rest[0] in "uU" else chr(int(rest, 8))
