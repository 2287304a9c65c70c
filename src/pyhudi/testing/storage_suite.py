"""What every storage must do, as pytest tests to inherit.

    class TestMyStorage(StorageSuite):
        @pytest.fixture
        def storage(self): return MyStorage(...)

The three promises of `pyhudi.storage.storage_protocol` come first: whole files, one winner of a name, listings that show what
was written.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhudi.errors import AlreadyExistsError, ConflictError, CorruptTableError, LockTimeoutError, StorageError
from pyhudi.storage.storage_protocol import Storage

HOSTILE_PATHS = ("..", "../x", "a/../../x", "/etc/passwd", "a//b", "./a", "a/.", "a/", "a\0b", "/", "a/..", "a\ud800")


class _StopWritingError(Exception):
    """Thrown by a test in the middle of writing a file."""


class StorageSuite:
    """Inherit it, give a fixture `storage` that returns an empty storage, and run pytest."""

    def test_created_file_reads_back_whole(self, storage: Storage) -> None:
        """`read` returns the bytes that `create` was given, in folders that did not exist before."""
        storage.create("a/b/c", b"\x00text\xff")
        assert storage.read("a/b/c") == b"\x00text\xff"

    def test_empty_file_can_be_created(self, storage: Storage) -> None:
        """A file may have no bytes."""
        storage.create("a/empty", b"")
        assert storage.read("a/empty") == b""

    def test_second_create_of_a_name_fails_and_keeps_the_first(self, storage: Storage) -> None:
        """`create` never changes a file that exists, an empty one included."""
        for content in (b"first", b""):
            name = f"file-of-{len(content)}"
            storage.create(name, content)
            for other in (b"second", b""):
                with pytest.raises(AlreadyExistsError):
                    storage.create(name, other)
            assert storage.read(name) == content

    def test_one_of_many_creators_wins(self, storage: Storage) -> None:
        """Of concurrent `create` calls with one name exactly one succeeds, and the file has its bytes."""
        start = threading.Barrier(8)

        def create(number: int) -> bool:
            start.wait()
            try:
                storage.create("race", b"%d" % number)
            except AlreadyExistsError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(create, range(8)))
        assert won.count(True) == 1
        assert storage.read("race") == b"%d" % won.index(True)

    def test_listing_shows_direct_children_sorted(self, storage: Storage) -> None:
        """`list` and `file_names` return direct children only, sorted by path."""
        for path in ("p/b", "p/a", "p/c/deep", "q/x"):
            storage.create(path, b"12")
        listing = storage.list("p")
        assert [(status.path, status.is_dir) for status in listing] == [("p/a", False), ("p/b", False), ("p/c", True)]
        assert listing[0].size == 2
        assert listing[0].name == "a"
        assert [status.path for status in storage.list("")] == ["p", "q"]
        assert storage.file_names("p") == ("a", "b")
        assert storage.file_names("") == ()

    def test_listing_of_a_missing_folder_is_empty(self, storage: Storage) -> None:
        """A folder that does not exist has no children; that is no error."""
        assert storage.list("nowhere") == []
        assert storage.list("nowhere/below") == []
        assert storage.file_names("nowhere") == ()

    def test_listing_leaves_nothing_but_the_file(self, storage: Storage) -> None:
        """No temporary file of a write is listed afterwards."""
        storage.create("f/one", b"1")
        storage.replace("f/one", b"2")
        assert [status.path for status in storage.list("f")] == ["f/one"]

    def test_stat_tells_files_folders_and_absence(self, storage: Storage) -> None:
        """`stat` returns path, size and kind, and None for what does not exist."""
        storage.create("a/file", b"123")
        file, folder = storage.stat("a/file"), storage.stat("a")
        assert file is not None
        assert (file.path, file.size, file.is_dir) == ("a/file", 3, False)
        assert folder is not None
        assert folder.is_dir
        assert storage.stat("a/none") is None
        assert storage.stat("a/file/below") is None

    def test_reading_a_missing_file_is_not_a_storage_failure(self, storage: Storage) -> None:
        """A missing file raises FileNotFoundError, not StorageError."""
        with pytest.raises(FileNotFoundError):
            storage.read("none")
        with pytest.raises(FileNotFoundError):
            storage.open_input("none/below")

    def test_reading_more_than_allowed_is_refused(self, storage: Storage) -> None:
        """`read` refuses a file of more than `max_bytes` bytes."""
        storage.create("long", b"12345")
        assert storage.read("long", max_bytes=5) == b"12345"
        with pytest.raises(CorruptTableError):
            storage.read("long", max_bytes=4)

    def test_input_is_seekable(self, storage: Storage) -> None:
        """An opened input seeks from its start and from its end."""
        storage.create("file", b"0123456789")
        with storage.open_input("file") as source:
            source.seek(-3, 2)
            assert source.read(2) == b"78"
            source.seek(1)
            assert source.read(1) == b"1"

    def test_output_reads_back(self, storage: Storage) -> None:
        """What is written to an output in several calls is one file."""
        with storage.open_output("p/data") as sink:
            sink.write(b"one")
            sink.write(b"two")
        assert storage.read("p/data") == b"onetwo"

    def test_output_of_an_existing_name_is_refused(self, storage: Storage) -> None:
        """`open_output` never changes a file that exists."""
        storage.create("p/data", b"kept")
        with pytest.raises(AlreadyExistsError), storage.open_output("p/data"):
            pass
        assert storage.read("p/data") == b"kept"

    def test_failed_output_leaves_no_file(self, storage: Storage) -> None:
        """A file whose writing failed does not exist."""
        with pytest.raises(_StopWritingError):
            _write_half(storage, "p/data")
        assert storage.stat("p/data") is None

    def test_replace_makes_or_changes_a_file(self, storage: Storage) -> None:
        """`replace` creates a file, or replaces its content."""
        storage.replace("a/file", b"one")
        storage.replace("a/file", b"two")
        assert storage.read("a/file") == b"two"

    def test_replace_of_an_expected_content_leaves_any_other(self, storage: Storage) -> None:
        """`replace` changes nothing where the content is not the expected one, or where there is no file."""
        with pytest.raises(ConflictError, match="a/file' of table"):
            storage.replace("a/file", b"one", expected=b"")
        storage.create("a/file", b"one")
        storage.replace("a/file", b"two", expected=b"one")
        with pytest.raises(ConflictError, match="a/file' of table"):
            storage.replace("a/file", b"three", expected=b"one")
        assert storage.read("a/file") == b"two"

    def test_delete_tells_whether_there_was_a_file(self, storage: Storage) -> None:
        """`delete` returns whether the file existed, and fails for none that did not."""
        storage.create("a/file", b"")
        assert storage.delete("a/file") is True
        assert storage.delete("a/file") is False
        assert storage.delete("nowhere/file") is False
        assert storage.stat("a/file") is None

    def test_delete_tree_takes_all_below_and_nothing_beside(self, storage: Storage) -> None:
        """`delete_tree` removes a folder with all below it, and no folder whose name merely begins alike."""
        for path in ("t/a", "t/b/c", "tt/kept"):
            storage.create(path, b"1")
        storage.delete_tree("t")
        storage.delete_tree("t")
        assert [status.path for status in storage.list("")] == ["tt"]

    def test_time_of_a_file_is_set_or_stays(self, storage: Storage) -> None:
        """`set_modified` changes a file's time, not its content; a storage that cannot set it leaves it."""
        storage.create("a/file", b"one")
        before = storage.stat("a/file")
        storage.set_modified("a/file", 1_600_000_000_123)
        after = storage.stat("a/file")
        assert before is not None
        assert after is not None
        assert after.modified_ms in (1_600_000_000_123, before.modified_ms)
        assert storage.read("a/file") == b"one"

    def test_make_dir_may_be_repeated(self, storage: Storage) -> None:
        """`make_dir` of a folder that exists is no error."""
        storage.make_dir("a/b")
        storage.make_dir("a/b")
        assert storage.list("a/b") == []

    @pytest.mark.parametrize("path", HOSTILE_PATHS)
    def test_path_that_leaves_the_table_is_refused_by_every_call(self, storage: Storage, path: str) -> None:
        """A path that is not plainly below the base path is refused by every call."""
        calls = (
            lambda: storage.list(path),
            lambda: storage.stat(path),
            lambda: storage.read(path),
            lambda: storage.open_input(path),
            lambda: storage.open_output(path).__enter__(),
            lambda: storage.create(path, b"x"),
            lambda: storage.replace(path, b"x"),
            lambda: storage.delete(path),
            lambda: storage.delete_tree(path),
            lambda: storage.make_dir(path),
        )
        for call in calls:
            with pytest.raises(StorageError):
                call()

    def test_name_longer_than_file_systems_take_is_nobodys(self, storage: Storage) -> None:
        """A failed write may have named such a folder: asking for it and deleting it are no errors."""
        path = "x" * 300
        assert storage.list(path) == storage.list(f"{path}/y") == []
        assert storage.file_names(path) == ()
        assert storage.stat(path) is None
        assert not storage.delete(f"{path}/y")

    def test_base_itself_cannot_be_deleted_or_written(self, storage: Storage) -> None:
        """The base path cannot be read as a file, deleted or written."""
        storage.create("a", b"1")
        for call in (storage.delete_tree, storage.delete, storage.read):
            with pytest.raises(StorageError):
                call("")
        assert storage.read("a") == b"1"

    def test_names_with_odd_characters_are_kept(self, storage: Storage) -> None:
        """Names with characters that URIs and shells treat specially are stored as they are."""
        for name in ("a b", "a=b", "ä", "a%2Fb", "a:b", "a?b", "a#b", "..a", "a..", "~", "-rf", "a\\b"):
            storage.create(f"odd/{name}/x", b"1")
            assert storage.stat(f"odd/{name}/x") is not None, name

    def test_lock_excludes_and_is_released(self, storage: Storage) -> None:
        """Who waits for a lock that is held gets a LockTimeoutError; afterwards it is free."""
        with storage.lock(1), ThreadPoolExecutor(1) as pool, pytest.raises(LockTimeoutError):
            pool.submit(_take_and_release, storage, 0.05).result()
        _take_and_release(storage, 0)

    def test_lock_is_handed_to_a_waiting_writer(self, storage: Storage) -> None:
        """A writer that waits gets the lock once it is released."""
        with ThreadPoolExecutor(1) as pool:
            with storage.lock(1):
                waiting = pool.submit(_take_and_release, storage, 5)
            waiting.result()

    def test_locks_of_other_names_do_not_exclude_each_other(self, storage: Storage) -> None:
        """Two names are two locks, independent of the lock of the writers."""
        with storage.lock(0), storage.lock(0, "one"), storage.lock(0, "two"), pytest.raises(LockTimeoutError), storage.lock(0, "one"):
            pass

    def test_lock_is_released_after_an_error(self, storage: Storage) -> None:
        """An error while the lock is held releases it."""
        with pytest.raises(_StopWritingError), storage.lock(1):
            raise _StopWritingError
        _take_and_release(storage, 0)


def _take_and_release(storage: Storage, timeout_s: float) -> None:
    with storage.lock(timeout_s):
        pass


def _write_half(storage: Storage, path: str) -> None:
    with storage.open_output(path) as sink:
        sink.write(b"half")
        raise _StopWritingError
