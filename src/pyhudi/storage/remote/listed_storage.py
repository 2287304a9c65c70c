"""A table on an object store with one listing of it, which answers in place of many requests."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, cast

from pyhudi.errors import CorruptTableError
from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_client import store_errors
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.object_cache import SMALL_BYTES, cached_content
from pyhudi.storage.remote.object_listing import ListedObject, ObjectListing, followed, listing_of_page
from pyhudi.storage.remote.repeated_requests import repeated
from pyhudi.storage.storage_paths import split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus

#: So many objects one request lists.
_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class ListedStorage(CloudStorage):
    """A table whose objects are known by a listing: what the listing does not know is asked of the store.

    A task in another process gets the table without its listing, and the listing then answers no more for what tasks write.
    """

    listing: ObjectListing = field(default_factory=lambda: ObjectListing({}, ""), repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how the storage is made elsewhere."""
        self.listing.share()
        return CloudStorage, (self.url, self.options)

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder; see the protocol."""
        split_path(path)
        return self.listing.children(path) if self.listing.knows_children(path) else CloudStorage.list(self, path)

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        split_path(path)
        if self.listing.knows(path) and (known := self.listing.find(path)) is not None:
            return FileStatus(path, known.size, known.modified_ms)
        if self.listing.knows(path) and self.listing.knows_children(path):
            return FileStatus(path, 0, 0, is_dir=True) if self.listing.children(path) else None
        return CloudStorage.stat(self, path)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        known = self._find(path)
        if known is None or known.e_tag is None:
            return CloudStorage.read(self, path, max_bytes=max_bytes)
        if max_bytes is not None and known.size > max_bytes:
            raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
        data = cached_content(self.key_of(path, known.e_tag))
        return CloudStorage.read(self, path, max_bytes=max_bytes) if data is None else data

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol. A small one is read at once."""
        known = self._find(path)
        if known is None or known.size > SMALL_BYTES:
            return CloudStorage.open_input(self, path)
        return cast(BinaryIO, io.BytesIO(self.read(path)))

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        split_file_path(path)
        if not self.listing.knows(path):
            return CloudStorage.delete(self, path)
        return self.listing.find(path) is not None and self.delete_objects([path])

    def delete_tree(self, path: str) -> None:
        """Delete everything below a folder."""
        split_file_path(path)
        if not self.listing.knows_below(path):
            CloudStorage.delete_tree(self, path)
        elif paths := self.listing.below(path):
            self.delete_objects(paths)

    def _find(self, path: str) -> ListedObject | None:
        """Return an object that is known, None where the store is to be asked.

        Raises:
            FileNotFoundError: there is no such object.
        """
        split_file_path(path)
        if not self.listing.knows(path):
            return None
        known = self.listing.find(path)
        if known is None:
            raise FileNotFoundError(f"file '{path}' of table {self.url} does not exist")
        return known


def first_pages(storage: CloudStorage, pages: int = 1) -> ObjectListing:
    """Return what one request, or so many, tell of the objects of a table."""
    with store_errors(storage.url, ""):
        entries = repeated(lambda: _first_entries(storage, pages))
    return listing_of_page(((entry["path"], _listed(entry)) for entry in entries), is_last=len(entries) < pages * _PAGE)


def _first_entries(storage: CloudStorage, pages: int) -> list[Any]:
    listed = iter(cloud_client.obstore_functions().list(storage.store, None, chunk_size=_PAGE))
    return list(itertools.chain.from_iterable(itertools.islice(listed, pages)))


@contextlib.contextmanager
def listed_while(storage: CloudStorage) -> Iterator[ListedStorage]:
    """List a table that nobody else changes while the block runs, because the caller holds its lock; changes of this process are followed.

    The storage may be used afterwards, and asks the store for everything then.
    """
    with followed(storage.url, first_pages(storage)) as listing:
        yield ListedStorage(storage.url, storage.options, listing)


def _listed(entry: Any) -> ListedObject:
    return ListedObject(entry["size"], int(entry["last_modified"].timestamp() * 1000), entry["e_tag"])
