"""An object store that a server of these tests serves: how its tables are named and opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: What the URLs of a store begin with, where the container is the first part of the path or in front of the account.
_BEGINNINGS: Final = {"s3": "s3://{}", "gcs": "gs://{}", "azure": "abfss://{}@devstoreaccount1.dfs.core.windows.net"}


@dataclass(frozen=True, slots=True)
class Store:
    """A store with a bucket of the name `bucket`."""

    kind: str
    options: dict[str, str]

    def url(self, path: str, bucket: str = "bucket") -> str:
        """The URL of a table."""
        return f"{_BEGINNINGS[self.kind].format(bucket)}/{path}"
