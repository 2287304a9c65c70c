"""The manifest of the LSM history: which of its Parquet files count.

Rules: `HoodieLSMTimelineManifest`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.jackson import parse_json, render_json


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file; `size` in bytes, 0 when the manifest does not say."""

    name: str
    size: int


def decode_manifest(data: bytes) -> tuple[ManifestEntry, ...]:
    """Return the files that a manifest lists.

    Raises:
        CorruptTableError: the bytes are no manifest; nobody writes an empty one.
    """
    if not data:
        raise CorruptTableError("the manifest is empty")
    files = parse_json(data).get("files")
    if not isinstance(files, list):
        raise CorruptTableError("the manifest has no list of files")
    return tuple(_entry(entry) for entry in files)


def encode_manifest(entries: Iterable[ManifestEntry]) -> bytes:
    """Return the content of a manifest."""
    return render_json({"files": [{"fileName": entry.name, "fileLen": entry.size} for entry in entries]})


def _entry(entry: object) -> ManifestEntry:
    name, size = (entry.get("fileName"), entry.get("fileLen")) if isinstance(entry, dict) else (None, None)
    if not isinstance(name, str):
        raise CorruptTableError(f"the manifest lists {entry!r}, which names no file")
    return ManifestEntry(name, size if isinstance(size, int) else 0)
