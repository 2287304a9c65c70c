"""Where new ids come from: file groups, and the sync marker that tells one Avro file from another."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from typing import Protocol


class Ids(Protocol):
    """A source of ids that no other process hands out."""

    def file_prefix(self) -> str:
        """Return the first part of a file id; `<prefix>-<number>` is the id of one file group."""
        ...

    def sync_marker(self) -> bytes:
        """Return the 16 bytes that separate the blocks of one Avro file."""
        ...


@dataclass(frozen=True, slots=True)
class SystemIds:
    """Ids from the operating system's random source."""

    def file_prefix(self) -> str:
        """Return a random UUID's text."""
        return str(uuid.uuid4())

    def sync_marker(self) -> bytes:
        """Return 16 random bytes."""
        return os.urandom(16)
