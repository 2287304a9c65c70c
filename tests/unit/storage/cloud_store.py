"""A store in memory that answers as S3 does, for tests of tables in the cloud: it counts the requests."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from pyhudi.storage.remote import cloud_client

obstore = pytest.importorskip("obstore")

_numbers = itertools.count()
LOCK = ".hoodie/.locks/table_lock.json"
_REQUESTS = {
    "get": "GET",
    "get_range": "GET",
    "head": "HEAD",
    "put": "PUT",
    "delete": "DELETE",
    "list": "LIST",
    "list_with_delimiter": "LIST",
}


class CountingObstore:
    """The functions of obstore; `requests` has the method and the path of each call, relative to the table."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(obstore, name)

        def call(store: Any, path: Any = None, *arguments: Any, **named: Any) -> Any:
            if name in _REQUESTS:
                self.requests.append((_REQUESTS[name], path if isinstance(path, str) else ""))
            return function(store, path, *arguments, **named)

        return call

    def of_lock(self) -> list[str]:
        """Return the methods of the requests for the lock of the table, in their order."""
        return [method for method, path in self.requests if path == LOCK]

    def counts(self) -> Counter[str]:
        """Return the number of requests by method."""
        return Counter(method for method, _ in self.requests)


def serve_from_memory(monkeypatch: pytest.MonkeyPatch) -> CountingObstore:
    """Let all tables in the cloud be in memory, one store for each URL, and return the counter of their requests."""
    stores: dict[str, Any] = {}
    counting = CountingObstore()
    monkeypatch.setattr(cloud_client, "open_store", lambda url, _: stores.setdefault(url, obstore.store.MemoryStore()))
    monkeypatch.setattr(cloud_client, "obstore_functions", lambda: counting)
    return counting


def new_url() -> str:
    """Return the URL of a table that no other test has."""
    return f"s3://bucket/table-{next(_numbers)}"
