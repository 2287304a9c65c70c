"""Which storage serves which path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.open_storage import open_storage


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


@pytest.mark.parametrize("path", [None, 5, b"/data", ["/data"], {}, object()])
def test_what_is_no_path_is_refused_by_its_type(path: Any) -> None:
    with pytest.raises(OptionError, match=f"of type {type(path).__name__}; give a text or a pathlib.Path"):
        open_storage(path)


@pytest.mark.parametrize(("text", "says"), [("/data/x\0y", "NUL"), ("s3://", "names no bucket"), ("gs:///", "names no bucket")])
def test_paths_that_name_nothing_are_refused(text: str, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        open_storage(text)


@pytest.mark.parametrize("options", [5, "key", ["key"], {5: "a"}])
def test_storage_options_are_a_mapping_of_strings(options: Any) -> None:
    for path in ("/data", "s3://bucket/t"):
        with pytest.raises(OptionError, match="storage_options must be a mapping"):
            open_storage(path, options)
