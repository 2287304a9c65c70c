"""Replacing a method of one of Spark's classes, once per process; the replacement can call Spark's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

_ORIGINAL = "_pyhudi_original"

#: Gets the object, Spark's own method (unbound), and the arguments of the call.
Hook = Callable[..., Any]


def replace_method(owner: type, name: str, hook: Hook) -> None:
    """Let `hook` answer calls of `owner.name`; does nothing when the method was replaced before."""
    original = getattr(owner, name)
    if hasattr(original, _ORIGINAL):
        return

    @wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return hook(self, original, *args, **kwargs)

    setattr(method, _ORIGINAL, original)
    setattr(owner, name, method)
