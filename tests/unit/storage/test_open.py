"""Which storage serves which path."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.storage.local import LocalStorage
from pyhudi.storage.memory import MemoryStorage
from pyhudi.storage.open import open_storage


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("/data/trips", "/data/trips"),
        ("/data/trips/", "/data/trips"),
        ("file:/data/trips", "/data/trips"),
        ("file:///data/trips/", "/data/trips"),
        ("FILE://localhost/data/trips", "/data/trips"),
        ("/data/a:b", "/data/a:b"),
        ("/data/100%25", "/data/100%25"),
        (Path("/data/trips"), "/data/trips"),
    ],
)
def test_local_path_or_uri_opens_the_folder(text, root) -> None:
    assert open_storage(text) == LocalStorage(root)


def test_memory_uri_opens_the_named_table() -> None:
    storage = MemoryStorage()
    storage.create("a", b"1")
    assert open_storage(storage.uri).read("a") == b"1"


@pytest.mark.parametrize("text", ["file://otherhost/x", "jdbc:derby:x"])
def test_scheme_without_storage_is_refused_by_name(text) -> None:
    with pytest.raises(UnsupportedError, match=text):
        open_storage(text)


def test_empty_path_and_needless_options_are_refused() -> None:
    with pytest.raises(OptionError, match="empty"):
        open_storage(" ")
    with pytest.raises(OptionError, match="key"):
        open_storage("/data", {"key": "x"})
