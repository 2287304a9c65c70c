"""Files that a person names: paths, URIs, links, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.errors import UsageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.named_files import read_named_file, read_named_text


def test_paths_uris_and_links_name_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.properties").write_bytes(b"a=1")
    (tmp_path / "link").symlink_to("a.properties")  # as Kubernetes mounts files
    monkeypatch.chdir(tmp_path)
    for path in ("a.properties", "./a.properties", f"{tmp_path}/a.properties", f"file:{tmp_path}/a.properties", f"file://{tmp_path}/link"):
        assert read_named_file(path, "properties file") == b"a=1", path


def test_object_stores_are_asked() -> None:
    MemoryStorage("settings").create("a.properties", b"a=1")
    assert read_named_file("memory://settings/a.properties", "properties file") == b"a=1"
    with pytest.raises(UsageError, match=r"^the properties file memory://settings/b does not exist$"):
        read_named_file("memory://settings/b", "properties file")


@pytest.mark.parametrize("path", ["missing", "/missing", "file:missing", "file:/missing", "folder/missing"])
def test_a_missing_file_is_named(path: str) -> None:
    with pytest.raises(UsageError, match=rf"^the policy file {path} does not exist$"):
        read_named_file(path, "policy file")


def test_what_is_no_file_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"^the policy file {tmp_path} cannot be read: Is a directory$"):
        read_named_file(str(tmp_path), "policy file")
    (tmp_path / "bytes").write_bytes(b"a\xff")
    with pytest.raises(UsageError, match=r"bytes is no text in UTF-8: invalid start byte at byte 1"):
        read_named_text(str(tmp_path / "bytes"), "policy file")


def test_what_editors_of_windows_add_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "windows.sql").write_bytes(b"\xef\xbb\xbfselect 1;\r\n")
    assert read_named_text(str(tmp_path / "windows.sql"), "script") == "select 1;\n"
