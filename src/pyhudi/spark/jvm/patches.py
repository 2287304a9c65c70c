"""Replacing a method of one of Spark's classes, once per process, and putting Spark's own back; the replacement can call it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

from pyspark.sql import SparkSession

#: Gets the object, Spark's own method (unbound), and the arguments of the call.
Hook = Callable[..., Any]
#: Tells whether `pyhudi.enable` was called for a session.
IsEnabled = Callable[[SparkSession], bool]


class _Patch:
    """One attribute of a class or module of PySpark, and what was there before."""

    def __init__(self, owner: object, name: str, replacement: object) -> None:
        self.owner, self.name, self.replacement = owner, name, replacement
        self.original = getattr(owner, name)
        self._was_inherited = name not in vars(owner)
        self._stored = vars(owner).get(name)
        setattr(owner, name, replacement)

    def undo(self) -> bool:
        """Put the original back; False when another process has replaced the replacement since."""
        if vars(self.owner).get(self.name) is not self.replacement:
            return False
        if self._was_inherited:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self._stored)
        return True


_LOCK: Final = threading.RLock()
_PATCHES: Final[dict[tuple[object, str], _Patch]] = {}


def replace_method(owner: type, name: str, hook: Hook) -> None:
    """Let `hook` answer calls of `owner.name`; does nothing when the method is replaced already."""
    with _LOCK:
        if (owner, name) in _PATCHES:
            return
        original = getattr(owner, name)

        @wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return hook(self, original, *args, **kwargs)

        _PATCHES[owner, name] = _Patch(owner, name, method)


def replace_methods(owner: type, hooks: Mapping[str, Hook]) -> None:
    """Let each hook answer calls of the method of its name; methods that are replaced already stay so."""
    for name, hook in hooks.items():
        replace_method(owner, name, hook)


def replace_function(module: object, name: str, replacement: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put what `replacement` makes of a module's function in its place; does nothing when it is replaced already."""
    with _LOCK:
        if (module, name) not in _PATCHES:
            _PATCHES[module, name] = _Patch(module, name, replacement(getattr(module, name)))


def original_of(owner: type, name: str) -> Callable[..., Any]:
    """Return Spark's own method, replaced or not."""
    with _LOCK:
        patch = _PATCHES.get((owner, name))
    original: Callable[..., Any] = getattr(owner, name) if patch is None else patch.original
    return original


def restore_all() -> None:
    """Put all of Spark's own methods back.

    A method that another library replaced on top of ours stays as it is, or that library would be cut off; ours, below it, passes calls on
    in sessions that are not enabled.
    """
    with _LOCK:
        for key, patch in list(_PATCHES.items()):
            if patch.undo():
                del _PATCHES[key]
