"""Whatever a path says, the local storage touches nothing outside its table."""

from __future__ import annotations

import contextlib
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi.errors import StorageError
from pyhudi.storage.local_storage import LocalStorage

SEGMENTS = st.one_of(
    st.sampled_from(["..", ".", "", "...", "link", "%2e%2e", "..%2f", "\u2025", "\uff0e\uff0e", "a", "\0", "~", "\\..", " .."]),
    st.text(max_size=4),
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)
CALLS = {
    "create": lambda storage, path: storage.create(path, b"x"),
    "replace": lambda storage, path: storage.replace(path, b"x"),
    "delete": lambda storage, path: storage.delete(path),
    "delete_tree": lambda storage, path: storage.delete_tree(path),
    "set_modified": lambda storage, path: storage.set_modified(path, 0),
    "make_dir": lambda storage, path: storage.make_dir(path),
    "read": lambda storage, path: storage.read(path),
    "list": lambda storage, path: storage.list(path),
    "file_names": lambda storage, path: storage.file_names(path),
}


@pytest.fixture
def folder(tmp_path):
    """A table with a link that leads out, beside files that must stay as they are."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    table = tmp_path / "table"
    table.mkdir()
    (table / "link").symlink_to(outside)
    return tmp_path


def everything_outside(folder) -> list[tuple[str, bytes | None]]:
    paths = [path for path in folder.rglob("*") if "table" not in path.relative_to(folder).parts]
    return sorted((str(path), path.read_bytes() if path.is_file() else None) for path in paths)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=PATHS, call=st.sampled_from(sorted(CALLS)))
def test_no_path_reaches_outside_the_table(folder, path, call) -> None:
    shutil.rmtree(folder / "table")  # an example before may have deleted the link, or put a file in its place
    (folder / "table").mkdir()
    (folder / "table" / "link").symlink_to(folder / "outside")
    before = everything_outside(folder)
    with contextlib.suppress(StorageError, FileNotFoundError):
        result = CALLS[call](LocalStorage(str(folder / "table")), path)
        assert "kept" not in str(result)
    assert everything_outside(folder) == before


def test_folder_swapped_for_a_link_between_two_calls_is_not_followed(folder) -> None:
    storage = LocalStorage(str(folder / "table"))
    storage.create("p/a", b"1")
    storage.delete_tree("p")
    (folder / "table" / "p").symlink_to(folder / "outside")
    with pytest.raises(StorageError):
        storage.create("p/b", b"2")
    assert storage.delete("p/kept") is False
    assert [entry.name for entry in (folder / "outside").iterdir()] == ["kept"]
