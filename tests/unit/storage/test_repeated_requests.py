"""Requests to a store whose connection breaks, whose answers are lost, and which meet what they have done themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import AlreadyExistsError, StorageError
from pyhudi.storage.remote import cloud_client, cloud_storage, repeated_requests
from pyhudi.storage.remote.cloud_storage import CloudStorage
from tests.unit.storage.cloud_store import CountingObstore, new_url, serve_from_memory

exceptions = pytest.importorskip("obstore.exceptions")

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
BROKEN = "Generic S3 error: Error performing PUT http://s3/b/t in 1ms - HTTP error: error sending request\n\nDebug source: max_retries: 6"
IN_VAIN = BROKEN.replace(" - HTTP", ", after 6 retries, max_retries: 6, retry_timeout: 60s - HTTP")
CONFLICT = "Object at location t already exists: 409 Conflict: <Error><Code>ConditionalRequestConflict</Code></Error>"

Fault = Callable[[Callable[[], Any]], Any]


def refused(_request: Callable[[], Any]) -> Any:
    raise exceptions.GenericError(BROKEN)


def lost_answer(request: Callable[[], Any]) -> Any:
    request()
    raise exceptions.GenericError(BROKEN)


def conflict(_request: Callable[[], Any]) -> Any:
    raise exceptions.AlreadyExistsError(CONFLICT)


def repeated_by_obstore(request: Callable[[], Any]) -> Any:
    """What comes of a 500 for a put that was done: obstore repeats it, and the store has the object then."""
    request()
    return request()


class FaultyObstore(CountingObstore):
    """The functions of obstore; each request that is made for the first time ends as `fault` says."""

    def __init__(self, fault: Fault, functions: tuple[str, ...] = ("put", "list", "list_with_delimiter", "delete")) -> None:
        super().__init__()
        self._fault, self._functions = fault, functions
        self._injected: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        function = super().__getattr__(name)

        def call(store: Any, path: Any = None, *arguments: Any, **named: Any) -> Any:
            request = repr((name, path, named.get("mode")))
            if name not in self._functions or request in self._injected:
                return function(store, path, *arguments, **named)
            self._injected.add(request)
            return self._fault(lambda: function(store, path, *arguments, **named))

        return call


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> CountingObstore:
    monkeypatch.setattr(repeated_requests, "_PAUSES_S", (0.0, 0.0, 0.0))
    return serve_from_memory(monkeypatch)


def break_off(monkeypatch: pytest.MonkeyPatch, fault: Fault, *functions: str) -> FaultyObstore:
    faulty = FaultyObstore(fault, *([functions] if functions else []))
    monkeypatch.setattr(cloud_client, "obstore_functions", lambda: faulty)
    return faulty


@pytest.mark.parametrize("fault", [refused, lost_answer, conflict, repeated_by_obstore])
@pytest.mark.parametrize("size", [0, 3, 2 << 20])
def test_file_is_created_though_the_first_attempt_had_no_answer(fault: Fault, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = CloudStorage(new_url())
    break_off(monkeypatch, fault, "put")
    with storage.open_output("t") as sink:
        sink.write(b"x" * size)
    assert storage.read("t") == b"x" * size
    storage.create("u", b"y" * size)
    assert storage.read("u") == b"y" * size


@pytest.mark.parametrize("fault", [refused, lost_answer])
def test_file_that_is_sent_in_parts_is_whole_though_it_is_sent_twice(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_storage, "_ONE_PUT_BYTES", 1 << 20)
    storage = CloudStorage(new_url())
    break_off(monkeypatch, fault, "put")
    with storage.open_output("t") as sink:
        sink.write(b"x" * (6 << 20))
    assert storage.read("t") == b"x" * (6 << 20)


@pytest.mark.parametrize("fault", [refused, conflict, repeated_by_obstore])
def test_file_of_another_writer_is_not_taken_for_ones_own(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = CloudStorage(new_url())
    storage.create("t", b"")
    break_off(monkeypatch, fault, "put")
    with pytest.raises(AlreadyExistsError, match=r"file 't' of table .* exists already"):
        storage.create("t", b"")


@pytest.mark.parametrize("fault", [refused, lost_answer])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_write_each_of_whose_requests_breaks_once_is_whole(fault: Fault, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="t", keys=["id"], table_type=kind).upsert([{"id": 1, "v": "a"}])
    break_off(monkeypatch, fault)
    HudiTable.open(url).upsert([{"id": 1, "v": "b"}, {"id": 2, "v": "c"}])
    assert sorted(HudiTable.open(url).to_arrow()["v"].to_pylist()) == ["b", "c"]
    assert HudiTable.open(url).inspect.health().to_pylist() == []


def test_properties_are_replaced_and_locks_taken_though_the_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = CloudStorage(new_url())
    storage.create("p", b"1")
    break_off(monkeypatch, lost_answer, "put")
    storage.replace("p", b"2", expected=b"1")
    assert storage.read("p") == b"2"


def test_folder_is_deleted_though_its_listing_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = CloudStorage(new_url())
    storage.create("p/a", b"1")
    break_off(monkeypatch, refused, "list")
    storage.delete_tree("p")
    assert storage.list("p") == []


THROTTLED = "Error performing GET http://s3/b/t in 9s, after 6 retries, max_retries: 6 - Server returned non-2xx status code: 503 Slow Down"
ADVICE = {
    THROTTLED: "The store refuses requests for the time being. Let fewer processes use it at a time, and try again later",
    IN_VAIN: "The connection to the store breaks. Check the network and the address of the store, and try again",
}


@pytest.mark.parametrize("error", ADVICE)
@pytest.mark.parametrize(
    ("request_of", "subject"),
    [
        (lambda storage: storage.open_input("t.parquet"), "'t.parquet' of table"),
        (lambda storage: storage.read("t"), "'t' of table"),
        (lambda storage: storage.create("t", b""), "'t' of table"),
        (lambda storage: storage.list(""), "the listing of table"),
    ],
)
def test_error_names_table_and_file_and_says_what_to_do(error, request_of, subject, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, calls = CloudStorage(new_url()), []

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            def call(*_arguments: Any, **_named: Any) -> Any:
                calls.append(name)
                raise exceptions.GenericError(f"{error}\n\nDebug source: of Rust")

            return call

    monkeypatch.setattr(cloud_client, "obstore_functions", Refusing)
    with pytest.raises(StorageError, match=rf"cannot use {subject} s3://bucket.*{ADVICE[error]}$"):
        request_of(storage)
    assert len(calls) == 1, "obstore has repeated it itself"


@pytest.mark.parametrize(("error", "attempts"), [(BROKEN, 4), (IN_VAIN, 1), ("503 Service Unavailable", 1)])
def test_requests_are_repeated_within_bounds(error: str, attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, count = CloudStorage(new_url()), 0

    class Down:
        def put(self, *_arguments: Any, **_named: Any) -> Any:
            nonlocal count
            count += 1
            raise exceptions.GenericError(error)

    monkeypatch.setattr(cloud_client, "obstore_functions", Down)
    with pytest.raises(StorageError, match=r"cannot use 't' of table s3://bucket"):
        storage.create("t", b"")
    assert count == attempts
