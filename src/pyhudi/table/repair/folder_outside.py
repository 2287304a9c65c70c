"""A folder outside of a table, to which a repair copies files."""

from __future__ import annotations

from pyhudi.errors import UsageError
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage


def folder_outside(table: Storage, path: str, purpose: str, *, is_new: bool = True) -> Storage:
    """Return the folder; `purpose` is what messages call it.

    Raises:
        UsageError: it is in the table, or `is_new` and not empty.
    """
    folder = open_storage(path)
    if f"{folder.uri}/".startswith(f"{table.uri}/"):
        raise UsageError(f"the folder for {purpose}, {folder.uri}, is in table {table.uri}, whose files they are not: name another one")
    if is_new and folder.list(""):
        raise UsageError(f"the folder for {purpose}, {folder.uri}, is not empty: name another one")
    return folder
