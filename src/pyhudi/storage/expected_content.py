"""Replacing a file only if it is what the caller thinks it is."""

from __future__ import annotations

from pyhudi.errors import ConflictError
from pyhudi.storage.storage_protocol import Storage


def check_content(storage: Storage, path: str, expected: bytes | None) -> None:
    """Refuse to replace a file whose content is not the expected one; where nothing is expected, nothing is read.

    Raises:
        ConflictError: names the file.
    """
    if expected is None:
        return
    try:
        content = storage.read(path)
    except FileNotFoundError:
        content = None
    if content != expected:
        raise changed_meanwhile(storage.uri, path)


def changed_meanwhile(uri: str, path: str) -> ConflictError:
    """Return the error of a file that another process has changed."""
    return ConflictError(
        f"'{path}' of table {uri} was changed by another process at the same time; this change of it was not made. Read the table again,"
        " and repeat the change if it is still wanted."
    )
