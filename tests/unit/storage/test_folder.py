"""A folder of a storage: the suite, and that it stays within its folder."""

from __future__ import annotations

import pytest

from pyhudi.errors import HudiError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.testing.storage_suite import StorageSuite


class TestFolderOfMemory(StorageSuite):
    @pytest.fixture
    def storage(self):
        return FolderStorage(MemoryStorage(), "a/b")


class TestFolderOfLocalTable(StorageSuite):
    @pytest.fixture
    def storage(self, tmp_path):
        return FolderStorage(LocalStorage(str(tmp_path)), ".hoodie/metadata")


def test_files_lie_in_the_folder_of_the_other_storage() -> None:
    inner = MemoryStorage()
    FolderStorage(inner, ".hoodie/metadata").create("files/f", b"1")
    assert inner.read(".hoodie/metadata/files/f") == b"1"


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/etc/passwd"])
def test_path_out_of_the_folder_is_refused(path) -> None:
    inner = MemoryStorage()
    inner.create("outside", b"1")
    with pytest.raises((HudiError, ValueError)):
        FolderStorage(inner, "folder").read(path)
