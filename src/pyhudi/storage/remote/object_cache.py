"""The contents of small objects that this process has read or written, by their entity tags.

An object of the same name and tag has the same content, so one that a listing shows need not be read again. A tag is only taken from an
answer of the store: without a listing that shows it, nothing is served from here.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from pyhudi.cache import LruCache

#: Objects up to this size are read whole by one request.
SMALL_BYTES: Final = 1 << 20
_ALL_BYTES: Final = 64 << 20

#: The URL of a table with its options, the path, and the entity tag: one that other credentials have read is not served.
ObjectKey: TypeAlias = tuple[str, str, str, str]

_contents: LruCache[ObjectKey, bytes] = LruCache(_ALL_BYTES, len, 1 << 14)


def object_key(url: str, options: object, path: str, e_tag: str) -> ObjectKey:
    """Return the key of one version of an object; stores put quotes around tags in some answers and not in others."""
    return url, repr(options), path, e_tag.strip('"')


def cached_content(key: ObjectKey) -> bytes | None:
    """Return the content of a version, None where this process does not have it."""
    return _contents.get(key)


def cache_content(key: ObjectKey, data: bytes) -> None:
    """Keep the content of a version, if it is small."""
    if len(data) <= SMALL_BYTES:
        _contents.put(key, data)
