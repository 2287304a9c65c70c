"""A storage that keeps a folder open reads what the storage itself reads, and refuses the same."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pyhudi.storage import cached_folder, local_storage
from pyhudi.storage.cached_folder import open_cached_folder
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_paths import open_folder
from pyhudi.storage.storage_protocol import Storage

DESCRIPTORS = Path("/proc/self/fd")
READABLE = ["in/a", "in/b", "other/c"]
REFUSED = ["in/none", "in/link", "in/folder", "in/", "in/../other/c", "in/.", "in/a\0", "in/\ud800", "other/none", "/in/a", ""]


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(str(tmp_path / "t"))
    for path in ("in/a", "in/b", "in/folder/d", "other/c"):
        storage.create(path, path.encode() * 1000)
    (tmp_path / "t" / "in" / "link").symlink_to(tmp_path / "t" / "other" / "c")
    return storage


def read(storage: Storage, path: str, most: int | None) -> object:
    try:
        return storage.read(path, max_bytes=most)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


@pytest.mark.parametrize("path", READABLE + REFUSED)
def test_each_path_has_the_same_answer(storage: LocalStorage, path: str) -> None:
    with open_cached_folder(storage, "in") as cached:
        assert cached is not storage
        for most in (None, 10):
            assert read(cached, path, most) == read(storage, path, most)
        assert path in REFUSED or cached.read(path) == path.encode() * 1000


def test_the_folder_is_opened_once_and_closed(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[tuple[str, ...]] = []

    def counted(root: str, segments: tuple[str, ...]) -> AbstractContextManager[int]:
        requested.append(segments)
        return open_folder(root, segments)

    for module in (cached_folder, local_storage):
        monkeypatch.setattr(module, "open_folder", counted)
    before = set(DESCRIPTORS.iterdir())
    with open_cached_folder(storage, "in") as cached:
        for path in ("in/a", "in/b", "in/a"):
            cached.read(path)
    assert requested == [("in",)]
    assert set(DESCRIPTORS.iterdir()) == before


def test_a_folder_that_is_missing_or_of_another_storage_makes_no_difference(storage: LocalStorage) -> None:
    memory = MemoryStorage()
    with open_cached_folder(storage, "missing") as cached, open_cached_folder(memory, "in") as of_memory:
        assert cached is storage
        assert of_memory is memory
