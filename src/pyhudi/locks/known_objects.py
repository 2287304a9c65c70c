"""The storage of a table whose objects are listed once, where that saves requests: on S3, Google Cloud Storage and Azure.

All other storages are left as they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.listed_storage import ListedStorage, first_pages, listed_while
from pyhudi.storage.storage_protocol import Storage


@contextlib.contextmanager
def known_while_locked(storage: Storage) -> Iterator[Storage]:
    """List a table whose lock the caller holds, so that it is not asked for what only the holder changes."""
    store = storage.inner if isinstance(storage, ProvidedStorage) else storage
    if not isinstance(store, CloudStorage):
        yield storage
        return
    with listed_while(store) as listed:
        yield replace(storage, inner=listed) if isinstance(storage, ProvidedStorage) else listed


def listed_now(storage: Storage, pages: int = 1) -> Storage:
    """Return a table as one listing shows it that is made now; what changes later is not seen in folders.

    `pages` is how many requests the listing may take: what follows after them is asked for.
    """
    store = storage.inner if isinstance(storage, ProvidedStorage) else storage
    if not isinstance(store, CloudStorage):
        return storage
    return ListedStorage(store.url, store.options, first_pages(store, pages))


def as_it_is_now(storage: Storage) -> Storage:
    """Return a storage that asks the store for everything: to see what others change in spite of the lock."""
    store = storage.inner if isinstance(storage, ProvidedStorage) else storage
    if not isinstance(store, ListedStorage):
        return storage
    live = CloudStorage(store.url, store.options)
    return replace(storage, inner=live) if isinstance(storage, ProvidedStorage) else live


def forget_listing(storage: Storage) -> None:
    """Let a storage of `listed_now` ask the store for everything from now on."""
    if isinstance(storage, ListedStorage):
        storage.listing.close()
