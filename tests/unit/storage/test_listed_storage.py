"""A table on an object store that is listed once: what the listing answers, and what is asked of the store all the same."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.cache import LruCache
from pyhudi.errors import ConflictError, StorageError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote import cloud_client, object_cache
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.listed_storage import ListedStorage, first_pages, listed_while
from pyhudi.storage.remote.object_listing import ListedObject, ObjectListing, followers, listing_of_page
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.storage_suite import StorageSuite
from tests.unit.storage.cloud_store import CountingObstore, new_url, serve_from_memory

obstore = pytest.importorskip("obstore")
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
ONE_CLOCK = {"hoodie.time.generator.max_expected_clock_skew_ms": "1"}
WITHOUT_SERVICES = {**ONE_CLOCK, "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> CountingObstore:
    return serve_from_memory(monkeypatch)


class TestListedStorage(StorageSuite):
    @pytest.fixture
    def storage(self, tmp_path: Path, requests: CountingObstore) -> Iterator[CloudStorage]:
        with listed_while(CloudStorage(new_url(), ((LOCK_FILE_OPTION, str(tmp_path / "lock")),))) as storage:
            yield storage


def filled(*paths: str) -> CloudStorage:
    storage = CloudStorage(new_url())
    for path in paths:
        storage.create(path, path.encode())
    return storage


def test_listing_answers_without_requests_and_follows_what_this_process_changes(requests: CountingObstore) -> None:
    storage = filled("p/a", "p/q/b", ".hoodie/timeline/1.commit")
    with listed_while(storage) as listed:
        requests.requests.clear()
        assert [status.path for status in listed.list("p")] == ["p/a", "p/q"]
        assert [status.path for status in listed.list("")] == [".hoodie", "p"]
        assert listed.read("p/a") == b"p/a"
        assert listed.open_input("p/q/b").read() == b"p/q/b"
        assert listed.stat("p/q") is not None
        assert listed.stat("p/none") is None
        assert not listed.delete("p/none")
        with pytest.raises(FileNotFoundError, match="'p/none' of table s3://"):
            listed.read("p/none")
        assert requests.requests == []
        storage.create("p/c", b"c")  # by another handle of the same process
        storage.replace("p/a", b"other")
        listed.delete_tree("p/q")
        assert [(status.path, status.size) for status in listed.list("p")] == [("p/a", 5), ("p/c", 1)]
        assert listed.read("p/a") == b"other"
        assert [method for method, _ in requests.requests] == ["PUT", "PUT", "DELETE"]
    assert followers(storage.url) == ()
    assert [status.path for status in listed.list("p")] == ["p/a", "p/c"], "the store is asked when the block is over"
    assert requests.requests[-1] == ("LIST", "p")


def test_content_is_served_for_the_tag_that_the_listing_shows_only(requests: CountingObstore) -> None:
    storage = filled("p/a")
    other = cloud_client.open_store(storage.url, ())
    obstore.put(other, "p/a", b"replaced elsewhere")
    listed = ListedStorage(storage.url, storage.options, first_pages(storage))
    assert listed.read("p/a") == b"replaced elsewhere"
    requests.requests.clear()
    assert listed.read("p/a") == b"replaced elsewhere"
    assert requests.requests == []
    same_place = ListedStorage(storage.url, (("key", "of somebody else"),), first_pages(storage))
    requests.requests.clear()
    assert same_place.read("p/a") == b"replaced elsewhere"
    assert requests.counts() == {"GET": 1}, "what other credentials have read is not served"


def test_large_objects_are_not_cached_and_not_read_whole(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_cache, "SMALL_BYTES", 10)
    monkeypatch.setattr("pyhudi.storage.remote.listed_storage.SMALL_BYTES", 10)
    storage = CloudStorage(new_url())
    storage.create("large", b"x" * 11)
    listed = ListedStorage(storage.url, storage.options, first_pages(storage))
    requests.requests.clear()
    assert listed.open_input("large").read() == b"x" * 11
    assert listed.read("large") == b"x" * 11
    assert requests.counts() == {"GET": 2}


def test_locks_and_heartbeats_are_always_asked_for(requests: CountingObstore) -> None:
    storage = filled(".hoodie/.locks/a", ".hoodie/.heartbeat/1", ".hoodie/hoodie.properties")
    with listed_while(storage) as listed:
        other = cloud_client.open_store(storage.url, ())
        obstore.put(other, ".hoodie/.heartbeat/2", b"")
        obstore.delete(other, ".hoodie/.locks/a")
        assert listed.file_names(".hoodie/.heartbeat") == ("1", "2")
        assert listed.stat(".hoodie/.locks/a") is None
        requests.requests.clear()
        assert [status.name for status in listed.list(".hoodie")] == [".heartbeat", ".locks", "hoodie.properties"]
        listed.replace_version(".hoodie/.locks/a", b"", None, None)
        assert listed.file_names(".hoodie") == ("hoodie.properties",)
        assert requests.counts() == {"PUT": 1}


class Failing:
    """Functions of obstore of which one fails after its effect."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            answer = getattr(obstore, name)(*arguments, **named)
            if name == self._name:
                raise TimeoutError("no answer")
            return answer

        return call


def test_object_whose_request_failed_is_asked_for(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = filled("p/a", "p/b")
    with listed_while(storage) as listed:
        with monkeypatch.context() as patched:
            patched.setattr(cloud_client, "obstore_functions", lambda: Failing("put"))
            with pytest.raises(StorageError, match="no answer"):
                listed.create("p/c", b"c")
        assert listed.read("p/c") == b"c"
        with monkeypatch.context() as patched:
            patched.setattr(cloud_client, "obstore_functions", lambda: Failing("delete"))
            with pytest.raises(StorageError, match="no answer"):
                listed.delete("p/a")
        assert listed.stat("p/a") is None
        assert listed.file_names("p") == ("b", "c")


def test_completion_without_an_answer_is_found_though_the_table_was_listed(
    requests: CountingObstore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request of the completed instant has its effect and no answer: the write looks at the store, not at its listing."""
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    put = requests.put

    def lose_answer(store: Any, path: str, *arguments: Any, **named: Any) -> Any:
        answer = put(store, path, *arguments, **named)
        if path.startswith(".hoodie/timeline/") and path.endswith(".commit"):
            raise TimeoutError("no answer")
        return answer

    monkeypatch.setattr(requests, "put", lose_answer, raising=False)
    table.insert([{"id": 1, "city": "oslo"}])
    assert HudiTable.open(url).count() == 1


def test_writer_whose_instant_another_one_rolled_back_does_not_commit(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other writer does not hold the lock, so the listing does not show what it does."""
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    put = requests.put

    def roll_back(store: Any, path: str, *arguments: Any, **named: Any) -> Any:
        answer = put(store, path, *arguments, **named)
        if path.endswith(".parquet"):
            instants = [one["path"] for page in obstore.list(store, ".hoodie/timeline") for one in page]
            obstore.delete(store, instants)
        return answer

    monkeypatch.setattr(requests, "put", roll_back, raising=False)
    with pytest.raises(ConflictError, match="was rolled back by another writer"):
        table.insert([{"id": 1, "city": "oslo"}])


def test_tasks_elsewhere_get_the_table_without_its_listing_which_answers_for_the_timeline_only(requests: CountingObstore) -> None:
    storage = filled(".hoodie/timeline/1.commit.requested", ".hoodie/.temp/1/a.marker.CREATE", "p/a")
    with listed_while(storage) as listed:
        task = pickle.loads(pickle.dumps(listed))
        assert type(task) is CloudStorage
        assert task == storage
        requests.requests.clear()
        assert len(listed.list(".hoodie/timeline")) == 1
        assert requests.requests == []
        for folder in ("p", ".hoodie/.temp/1", ".hoodie", ""):
            assert listed.list(folder)
        assert len(requests.requests) == 4


def entry(path: str, size: int = 1) -> tuple[str, ListedObject]:
    return path, ListedObject(size, 0, "tag")


def test_first_of_several_pages_knows_what_is_before_its_end() -> None:
    listing = listing_of_page([entry(".hoodie/a"), entry("p/a"), entry("q/a")], is_last=False)
    assert listing.knows_children("p")
    assert listing.knows_children(".hoodie")
    assert listing.knows("a-file-that-is-not-there")
    assert not listing.knows_children("q"), "there may be more"
    assert not listing.knows_children("")
    assert not listing.knows("q/b")
    whole = listing_of_page([entry(".hoodie/a")], is_last=True)
    assert whole.knows_children("")
    assert whole.knows("z")


def test_page_of_a_store_that_does_not_sort_counts_only_when_it_is_the_only_one() -> None:
    page = [entry("q/a"), entry("p/a")]
    assert not listing_of_page(page, is_last=False).knows("a")
    assert listing_of_page(page, is_last=True).knows("a")


def test_empty_object_that_may_be_the_marker_of_a_folder_is_asked_for() -> None:
    empty = [entry(path, 0) for path in ("p", ".hoodie/timeline/1.inflight", ".hoodie/.temp/1/a.parquet.marker.CREATE", ".hoodie/.aux")]
    listing = listing_of_page([*empty, entry("q/a")], is_last=True)
    assert not listing.knows("p")
    assert not listing.knows_children("p")
    assert not listing.knows_children("")
    assert not listing.knows_children(".hoodie")
    assert listing.knows("q/a")
    assert listing.knows_children(".hoodie/timeline")
    assert listing.knows_children(".hoodie/.temp/1")


@pytest.mark.parametrize("path", [".hoodie/1.commit", ".hoodie/metadata/.hoodie/1.deltacommit", ".hoodie/timeline/1.commit"])
def test_time_of_a_completed_action_of_layout_1_is_asked_for(path: str) -> None:
    listing = ObjectListing({}, None)
    listing.put(path, ListedObject(1, 0, "tag"))
    assert not listing.knows(path)
    listing.put(".hoodie/timeline/1_2.commit", ListedObject(1, 0, "tag"))
    assert listing.knows(".hoodie/timeline/1_2.commit")


def upsert(url: str, key: int) -> None:
    HudiTable.open(url).upsert([{"id": key, "city": "oslo"}], options=WITHOUT_SERVICES)


def test_upsert_of_one_row_makes_twenty_requests(requests: CountingObstore) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    for key in range(3):
        upsert(url, key)
    requests.requests.clear()
    upsert(url, 1)
    assert requests.counts() == {"PUT": 13, "LIST": 4, "GET": 2, "DELETE": 1}


def test_upserts_with_cleaning_and_archival_make_few_requests_more(requests: CountingObstore) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    totals = []
    for _ in range(14):
        requests.requests.clear()
        HudiTable.open(url).upsert([{"id": 1, "city": "oslo"}], options={**ONE_CLOCK, "hoodie.clean.commits.retained": "3"})
        totals.append(len(requests.requests))
    assert sorted(totals)[len(totals) // 2] <= 30, totals  # 1.5 times those of a write alone


def test_read_of_a_small_table_makes_few_requests(requests: CountingObstore) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    upsert(url, 1)
    upsert(url, 2)
    requests.requests.clear()
    assert HudiTable.open(url).to_arrow().num_rows == 2
    assert requests.counts() == {"LIST": 3, "GET": 2}


@pytest.mark.parametrize(("small_bytes", "others"), [(1 << 20, 25), (10, 75)], ids=["small files", "large files"])
@pytest.mark.parametrize("files", [2, 12])
def test_health_makes_few_requests_for_each_file(
    requests: CountingObstore, monkeypatch: pytest.MonkeyPatch, small_bytes: int, others: int, files: int
) -> None:
    """The table is listed once, each base file is asked once, and the metadata table is not asked for each of them."""
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="rides", keys=["id"], partition_by=["city"])
    table.insert([{"id": number, "city": f"c{number}"} for number in range(files)], options=WITHOUT_SERVICES)
    monkeypatch.setattr(object_cache, "SMALL_BYTES", small_bytes)
    monkeypatch.setattr("pyhudi.storage.remote.listed_storage.SMALL_BYTES", small_bytes)
    monkeypatch.setattr(object_cache, "_contents", LruCache(1 << 26, len))  # as in another process
    requests.requests.clear()
    assert HudiTable.open(url).inspect.health().num_rows == 0
    counts = requests.counts()
    assert sum(path.endswith(".parquet") for _, path in requests.requests) == files
    assert counts["LIST"] == 1
    assert len(requests.requests) <= files + others, counts


def test_folders_of_a_listing_are_those_of_its_objects_while_they_change() -> None:
    listing = listing_of_page([entry("p/b"), entry("p-/a"), entry("p/a/c"), entry("p0/a")], is_last=True)
    assert [status.path for status in listing.children("p")] == ["p/a", "p/b"]
    assert listing.below("p") == ["p/a/c", "p/b"]
    listing.put("p/a2", ListedObject(1, 0, None))
    listing.remove("p/b")
    assert listing.below("p") == ["p/a/c", "p/a2"]
    assert [status.path for status in listing.children("")] == ["p", "p-", "p0"]
