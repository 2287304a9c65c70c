"""What libraries log while they talk to a server."""

from __future__ import annotations

import logging


def keep_off_terminal(library: str) -> None:
    """Leave a library's warnings to handlers of the program: without any, Python prints them on the terminal, and our errors say the same.

    Example:
        >>> keep_off_terminal("kazoo")
    """
    logger = logging.getLogger(library)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
