"""Options of the form KEY=VALUE."""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.errors import OptionError


def pairs(strings: Iterable[str]) -> dict[str, str]:
    """Return the options that strings state.

    Raises:
        OptionError: a text is none.

    Example:
        >>> pairs(["a=1", "b=c=d"])
        {'a': '1', 'b': 'c=d'}
    """
    result = {}
    for text in strings:
        key, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"'{text}' is no option: write KEY=VALUE.")
        result[key] = value
    return result
