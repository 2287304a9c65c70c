"""The kinds of files that a table has, and what may happen to one."""

from __future__ import annotations

import random
from collections.abc import Callable

from pyhudi.storage.memory_storage import MemoryStorage

#: Beginnings and parts of paths, the first that fits says the kind; empty for what no reader looks at.
_KINDS = (
    (".hoodie/metadata/", "metadata table"),
    (".hoodie/hoodie.properties", "properties"),
    ("history/manifest_", "manifest"),
    ("history/_version_", "manifest"),
    ("history/", "archive"),
    (".hoodie/archived/", "archive of version 6"),
    (".hoodie/timeline/", "instant"),
    (".hoodie/2", "instant"),
    (".hoodie/.index_defs/", "index"),
    (".hoodie/", ""),
    (".hoodie_partition_metadata", ""),
    (".log.", "log"),
    (".parquet", "base"),
)


def kind_of(path: str) -> str:
    """Return which kind of file a path names, `""` for one that does not matter."""
    return next((kind for part, kind in _KINDS if part in path), "")


def flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


#: What happens to the content; None: the file is missing.
WAYS: dict[str, Callable[[bytes, random.Random], bytes] | None] = {
    "flip": flip,
    "cut": cut,
    "empty": lambda _data, _chance: b"",
    "gone": None,
    "doubled": lambda data, _chance: data + data,
}


def damage(storage: MemoryStorage, path: str, way: str, chance: random.Random) -> MemoryStorage:
    """Return a copy of a table with one file damaged."""
    copy = storage.copy()
    data = copy.read(path)
    copy.delete(path)
    change = WAYS[way]
    if change is not None:
        copy.create(path, change(data, chance))
    return copy
