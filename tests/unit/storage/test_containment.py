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
def place(tmp_path):
    """A table with a link that leads out, beside files that must stay as they are."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    table = tmp_path / "table"
    table.mkdir()
    (table / "link").symlink_to(outside)
    return tmp_path


def everything_outside(place) -> list[tuple[str, bytes | None]]:
    paths = [path for path in place.rglob("*") if "table" not in path.relative_to(place).parts]
    return sorted((str(path), path.read_bytes() if path.is_file() else None) for path in paths)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=PATHS, call=st.sampled_from(sorted(CALLS)))
def test_no_path_reaches_outside_the_table(place, path, call) -> None:
    shutil.rmtree(place / "table")  # an example before may have deleted the link, or put a file in its place
    (place / "table").mkdir()
    (place / "table" / "link").symlink_to(place / "outside")
    before = everything_outside(place)
    with contextlib.suppress(StorageError, FileNotFoundError):
        found = CALLS[call](LocalStorage(str(place / "table")), path)
        assert "kept" not in str(found)
    assert everything_outside(place) == before


def test_folder_swapped_for_a_link_between_two_calls_is_not_followed(place) -> None:
    storage = LocalStorage(str(place / "table"))
    storage.create("p/a", b"1")
    storage.delete_tree("p")
    (place / "table" / "p").symlink_to(place / "outside")
    with pytest.raises(StorageError):
        storage.create("p/b", b"2")
    assert storage.delete("p/kept") is False
    assert [entry.name for entry in (place / "outside").iterdir()] == ["kept"]
