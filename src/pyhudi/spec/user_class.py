"""Objects of the user's own classes, which options name as `module:Class`."""

from __future__ import annotations

import importlib
from typing import Any

from pyhudi.errors import OptionError


def user_object(option: str, name: str, method: str, what: str) -> Any:
    """Return a new object of the Python class that an option names.

    Options may come from a catalog: nothing is called but a class that is written for this, which its method shows.

    Args:
        option: the option, for messages.
        name: its value, `module:Class`; the class is made without arguments.
        method: the method that the class must have, with its parameters, such as `validate(before, after)`.
        what: what the object is, for messages.

    Raises:
        OptionError: there is no such class, it has no such method, or it cannot be made.
    """
    module, _, class_name = name.partition(":")
    try:
        named = getattr(importlib.import_module(module), class_name)
        if isinstance(named, type) and callable(getattr(named, method.partition("(")[0], None)):
            return named()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise OptionError(f"{option}={name}: no {what} can be made of it ({type(error).__name__}: {error}).") from error
    raise OptionError(f"{option}={name} is no class with a method {method}.")
