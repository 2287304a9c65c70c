"""Parts of an object of a store, for `RangedInput`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_client import store_errors


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Reads parts of one object of obstore's `store` for the table `url`."""

    store: Any
    url: str
    path: str

    def first(self, length: int, *, from_end: bool) -> tuple[int, bytes]:
        """Return the size, and the beginning or the end; Azure has no ranges from the end, and no store has one of an empty object.

        On Azure the beginning tells the size, and is the whole of a small object.
        """
        store = self.store
        if from_end and type(store).__name__ == "AzureStore":
            size, beginning = self.first(length, from_end=False)
            return size, beginning if size <= length else self.part(size - length, size)
        with store_errors(self.url, self.path):
            try:
                answer = cloud_client.obstore_functions().get(
                    store, self.path, options={"range": {"suffix": length} if from_end else (0, length)}
                )
            except FileNotFoundError:
                raise
            except Exception as error:  # the range may be the reason; the next request tells
                if cloud_client.is_without_answer(error):
                    raise
                answer = cloud_client.obstore_functions().get(store, self.path)
            return answer.meta["size"], bytes(answer.bytes())

    def part(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range."""
        with store_errors(self.url, self.path):
            return bytes(cloud_client.obstore_functions().get_range(self.store, self.path, start=begin, end=end))
