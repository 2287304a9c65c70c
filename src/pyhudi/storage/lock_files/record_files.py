"""Files in the folder of locks that record, each by an id, under which lock a table is written."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import AlreadyExistsError, CorruptTableError
from pyhudi.storage.storage_protocol import Storage

LOCK_FOLDER: Final = ".hoodie/.locks"
#: None of them, and no lock file, is longer.
MAX_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """The records of one kind: `<prefix>-<id>.json`, with an id of 32 hexadecimal digits; `key` is the entry that states the lock."""

    prefix: str
    key: str

    def ids(self, names: Sequence[str]) -> list[str]:
        """Return the ids of the records among the names of the files in the folder."""
        pattern = re.compile(rf"{self.prefix}-([0-9a-f]{{32}})\.json")
        return [match[1] for name in names if (match := pattern.fullmatch(name))]

    def stored_ids(self, storage: Storage) -> list[str]:
        """Return the ids of the records that are there."""
        return self.ids(storage.file_names(LOCK_FOLDER))

    def create(self, storage: Storage, identity: str, stated: str) -> None:
        """Record a lock, unless it is recorded."""
        with contextlib.suppress(AlreadyExistsError):
            storage.create(self._path(identity), json.dumps({self.key: stated}).encode())

    def delete(self, storage: Storage, *ids: str) -> None:
        """Delete records."""
        for identity in ids:
            storage.delete(self._path(identity))

    def stated(self, storage: Storage, identity: str) -> str:
        """Return what a record states, or the id where it cannot be read."""
        try:
            return str(json.loads(storage.read(self._path(identity), max_bytes=MAX_BYTES))[self.key])
        except (FileNotFoundError, CorruptTableError, ValueError, KeyError, TypeError):
            return f"with the id {identity}"

    def _path(self, identity: str) -> str:
        return f"{LOCK_FOLDER}/{self.prefix}-{identity}.json"
