"""The manifest of the LSM history: which of its Parquet files count.

Rules: `HoodieLSMTimelineManifest`.
"""

from __future__ import annotations

from pyhudi.codec.jackson import parse_json
from pyhudi.errors import CorruptTableError


def decode_manifest(data: bytes) -> tuple[str, ...]:
    """Return the names of the files that a manifest lists; none when it is empty.

    Raises:
        CorruptTableError: the bytes are no manifest.
    """
    files = parse_json(data).get("files") if data else []
    if not isinstance(files, list):
        raise CorruptTableError("the manifest has no list of files")
    return tuple(_name(entry) for entry in files)


def _name(entry: object) -> str:
    name = entry.get("fileName") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise CorruptTableError(f"the manifest lists {entry!r}, which names no file")
    return name
