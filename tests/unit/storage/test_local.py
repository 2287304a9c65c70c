"""The local storage: the suite, links, left-overs, Hadoop's checksum files, and the lock between processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pyhudi.errors
from pyhudi.errors import AlreadyExistsError, CorruptTableError, LockTimeoutError, StorageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.testing.storage_suite import StorageSuite


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path / "table"))


class TestLocalStorage(StorageSuite):
    @pytest.fixture
    def storage(self, tmp_path):
        return LocalStorage(str(tmp_path / "table"))


def test_relative_root_stays_when_the_working_folder_changes(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    storage = LocalStorage("table")
    monkeypatch.chdir("/")
    storage.create("a", b"1")
    assert (tmp_path / "table" / "a").read_bytes() == b"1"


def test_pickled_storage_serves_the_same_table(storage) -> None:
    storage.create("a", b"1")
    twin = pickle.loads(pickle.dumps(storage))
    assert twin == storage
    assert twin.read("a") == b"1"


@pytest.fixture
def linked(tmp_path, storage):
    """A table with a link `out` to a folder outside and a link `file` to a file outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    storage.create("inside", b"1")
    (tmp_path / "table" / "out").symlink_to(outside)
    (tmp_path / "table" / "file").symlink_to(outside / "secret")
    return storage


def test_links_are_left_out_of_listings_and_status(linked) -> None:
    assert [status.path for status in linked.list("")] == ["inside"]
    assert (linked.file_names(""), linked.file_names("out")) == (("inside",), ())
    assert linked.stat("out") is None
    assert linked.stat("file") is None
    assert linked.list("out") == []


def test_files_behind_links_cannot_be_read_or_written(linked, tmp_path) -> None:
    calls = (
        lambda: linked.read("out/secret"),
        lambda: linked.read("file"),
        lambda: linked.create("out/new", b"x"),
        lambda: linked.replace("out/secret", b"x"),
        lambda: linked.open_output("out/new").__enter__(),
        lambda: linked.make_dir("out/folder"),
    )
    for call in calls:
        with pytest.raises(StorageError):
            call()
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]
    assert (tmp_path / "outside" / "secret").read_bytes() == b"secret"


def test_deleting_through_links_touches_nothing_outside(linked, tmp_path) -> None:
    assert linked.delete("out/secret") is False
    with pytest.raises(StorageError):
        linked.delete_tree("out")
    assert linked.delete("file") is True
    linked.replace("inside", b"2")
    assert (tmp_path / "outside" / "secret").read_bytes() == b"secret"


def test_delete_tree_does_not_follow_links(linked, tmp_path) -> None:
    (tmp_path / "table" / "sub").symlink_to(tmp_path / "outside")
    linked.create("tree/a", b"1")
    (tmp_path / "table" / "tree" / "link").symlink_to(tmp_path / "outside")
    linked.delete_tree("tree")
    assert (tmp_path / "outside" / "secret").exists()


def test_create_does_not_write_through_a_link_of_its_name(linked, tmp_path) -> None:
    for content in (b"x", b""):
        with pytest.raises(AlreadyExistsError):
            linked.create("file", content)
    assert (tmp_path / "outside" / "secret").read_bytes() == b"secret"


def test_pipe_and_other_special_files_are_refused_by_listings(storage, tmp_path) -> None:
    """Passed over, one in the place of a completed instant's file would hide the rows of its commit."""
    storage.create("a", b"1")
    os.mkfifo(tmp_path / "table" / "pipe")
    for look in (storage.list, storage.file_names):
        with pytest.raises(CorruptTableError, match=r"'pipe' of table .* is a named pipe"):
            look("")
    with pytest.raises(CorruptTableError, match=r"'pipe' of table .* is a named pipe"):
        storage.stat("pipe")


def test_checksum_files_of_hadoop_go_with_their_file(storage, tmp_path) -> None:
    storage.create("replaced", b"1")
    storage.create("deleted", b"1")
    for name in ("replaced", "deleted"):
        (tmp_path / "table" / f".{name}.crc").write_bytes(b"crc")
    storage.replace("replaced", b"2")
    storage.delete("deleted")
    assert [path.name for path in (tmp_path / "table").iterdir()] == ["replaced"]


def test_full_disk_leaves_no_file_and_names_it(storage, tmp_path, monkeypatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    storage.create("a", b"1")
    monkeypatch.setattr(os, "fsync", fail)
    for write in (storage.create, storage.replace):
        with pytest.raises(StorageError, match=r"'f/new'.*No space left"):
            write("f/new", b"2")
    with pytest.raises(StorageError, match="No space left"), storage.open_output("data") as sink:
        sink.write(b"3")
    assert not (tmp_path / "table" / "data").exists()
    assert [path.name for path in (tmp_path / "table" / "f").iterdir()] == []


def run_python(text: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(pyhudi.errors.__file__).parent.parent)}
    command = [sys.executable, "-c", text, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


HOLD_LOCK = """
import sys, time
from pyhudi.storage.local_storage import LocalStorage
with LocalStorage(sys.argv[1]).lock(5):
    print("held", flush=True)
    time.sleep(60)
"""


def test_lock_excludes_another_process_until_it_is_killed(storage) -> None:
    with run_python(HOLD_LOCK, storage.uri) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTimeoutError, match="another writer"), storage.lock(0.05):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with storage.lock(1):
        pass


CREATE_FOR_EVER = """
import itertools, sys
from pyhudi.storage.local_storage import LocalStorage
storage = LocalStorage(sys.argv[1])
print("started", flush=True)
for number in itertools.count():
    storage.create(f"files/{number}", b"x" * 100_000)
"""


def test_killed_creator_leaves_whole_files_and_marked_left_overs(storage) -> None:
    for wait_s in (0.02, 0.05, 0.09):
        with run_python(CREATE_FOR_EVER, storage.uri) as creator:
            assert creator.stdout is not None
            creator.stdout.readline()
            try:
                creator.wait(wait_s)
            except subprocess.TimeoutExpired:
                creator.kill()
        for status in storage.list("files"):
            left_over = status.name.startswith(".") and status.name.endswith(".tmp")
            assert left_over or status.size == 100_000
        storage.delete_tree("files")


def test_listing_is_whole_while_other_files_come_and_go(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("folder/stays", b"x")
    stop = threading.Event()

    def come_and_go() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            storage.replace(f"folder/goes-{number % 50}", b"y")
            storage.delete(f"folder/goes-{number % 50}")

    writers = [threading.Thread(target=come_and_go) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        listings = [{status.name for status in storage.list("folder")} for _ in range(2000)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert all("stays" in names for names in listings)


def test_a_folder_has_one_name_however_its_parents_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "deep")
    monkeypatch.chdir(tmp_path / "a")
    expected = LocalStorage(str(tmp_path / "a" / "t")).uri
    for spelt in ("t", "./t", "deep/../t", "../a/t", f"{tmp_path}/a/deep/../t", f"{tmp_path}/link/../t"):
        assert LocalStorage(spelt).uri == expected, spelt
