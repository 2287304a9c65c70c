"""Arguments of public calls by their types, so that a wrong one is a clear error and not one of Python from somewhere inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyhudi.errors import OptionError


def check_text(value: object, argument: str) -> str:
    """Return an argument that must be a text.

    Raises:
        OptionError: it is of another type.
    """
    if not isinstance(value, str):
        raise OptionError(f"{argument} is {value!r:.100}, of type {type(value).__name__}; give a text.")
    return value


def check_instant(value: object, argument: str) -> None:
    """Check an argument that must be an instant, or None; the result of a write is none, though it has one.

    Raises:
        OptionError: it is of another type.
    """
    if value is None or isinstance(value, str):
        return
    instant = getattr(value, "instant", None)
    hint = f"'{instant}', which is its attribute instant" if isinstance(instant, str) else "a text such as '20261201040547825'"
    raise OptionError(f"{argument} is {value!r:.100}, of type {type(value).__name__}; give {hint}.")


def check_strings(value: object, argument: str, what: str = "strings") -> tuple[str, ...]:
    """Return an argument that must be a sequence of strings; a single text is none, since its letters would be taken.

    Raises:
        OptionError: it is of another type, or one of its elements is.

    Example:
        >>> check_strings(["a", "b"], "keys")
        ('a', 'b')
    """
    if isinstance(value, str):
        raise OptionError(f"{argument} is the text {value!r}; give a list of {what}, such as [{value!r}].")
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise OptionError(f"{argument} is {value!r:.100}, of type {type(value).__name__}; give a list of {what}.")
    strings = tuple(value)
    for one in strings:
        if not isinstance(one, str):
            raise OptionError(f"{argument} holds {one!r:.100}, of type {type(one).__name__}; give a list of {what}.")
    return strings
