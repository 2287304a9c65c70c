"""Markers in batches: files, intervals, threads, the server of tasks in other processes, and writes that take them."""

from __future__ import annotations

import http.client
import logging
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import AlreadyExistsError, OptionError, StorageError
from pyhudi.markers.choose_markers import markers_of
from pyhudi.markers.marker_batches import BatchedMarkers, MarkerBatches
from pyhudi.markers.marker_route import DIRECT_MARKERS
from pyhudi.markers.marker_server import ServerMarkers, serving
from pyhudi.markers.marker_settings import MarkerSettings, marker_settings
from pyhudi.spec.files.marker import TEMP_FOLDER, MarkerType
from pyhudi.spec.options import resolve
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.txn.markers import marked_appends, marked_files

INSTANT = "20260101000000000"
FOLDER = f"{TEMP_FOLDER}/{INSTANT}"
BATCHED = MarkerSettings("TIMELINE_SERVER_BASED", 0.0, 3)
TYPE = "hoodie.write.markers.type"


def path(number: int) -> str:
    return f"p={number % 3}/{number:08x}-0000-0000-0000-000000000000-0_{number}-0-0_{INSTANT}.parquet"


def create(batches: MarkerBatches, numbers: range) -> None:
    with ThreadPoolExecutor(len(numbers)) as pool:
        list(pool.map(lambda number: batches.create(path(number), MarkerType.CREATE), numbers))


def test_all_requests_of_an_interval_are_one_replacement_of_one_file() -> None:
    storage, release = MemoryStorage(), threading.Event()

    def wait(_seconds: float) -> None:
        release.wait(10)

    with closing(MarkerBatches(storage, INSTANT, MarkerSettings("", 1.0, 3), wait)) as batches:
        with ThreadPoolExecutor(8) as pool:
            requests = [pool.submit(batches.create, path(number), MarkerType.CREATE) for number in range(8)]
            while len(batches._waiting) < 8:
                pass
            assert storage.list(FOLDER) == []
            assert not any(request.done() for request in requests)
            release.set()
        assert [status.name for status in storage.list(FOLDER)] == ["MARKERS.type", "MARKERS0"]
        assert storage.read(f"{FOLDER}/MARKERS.type") == b"TIMELINE_SERVER_BASED"
        assert sorted(storage.read(f"{FOLDER}/MARKERS0").decode().splitlines()) == sorted(f"{path(n)}.marker.CREATE" for n in range(8))
        assert storage.read(f"{FOLDER}/MARKERS0").endswith(b"\n")


def test_batches_are_spread_over_the_files_and_keep_older_lines() -> None:
    storage = MemoryStorage()
    with closing(MarkerBatches(storage, INSTANT, BATCHED)) as batches:
        for number in range(7):
            batches.create(path(number), MarkerType.MERGE)
    counts = {status.name: storage.read(status.path).count(b"\n") for status in storage.list(FOLDER) if status.name != "MARKERS.type"}
    assert sorted(counts) == ["MARKERS0", "MARKERS1", "MARKERS2"]
    assert sum(counts.values()) == 7
    assert max(counts.values()) <= 3
    assert marked_files(storage, INSTANT) == frozenset({path(number) for number in range(7)})


def test_marker_is_on_storage_before_its_request_is_answered() -> None:
    storage = MemoryStorage()
    with closing(MarkerBatches(storage, INSTANT, BATCHED)) as batches, ThreadPoolExecutor(10) as pool:

        def task(number: int) -> bool:
            batches.create(path(number), MarkerType.CREATE)
            return path(number) in (marked_files(storage, INSTANT) or ())

        assert all(pool.map(task, range(100)))


def test_marker_that_exists_is_refused_as_a_file_is() -> None:
    with closing(MarkerBatches(MemoryStorage(), INSTANT, BATCHED)) as batches:
        batches.create(path(1), MarkerType.CREATE)
        with pytest.raises(AlreadyExistsError):
            batches.create(path(1), MarkerType.CREATE)
        batches.create(path(1), MarkerType.MERGE)


def test_batch_that_cannot_be_written_fails_its_requests_and_no_other() -> None:
    failing = [True]

    class Full(InterceptedStorage):
        def _pass(self, call, effect, torn=None):
            if call.method == "replace" and "MARKERS" in call.path and failing[0]:
                raise StorageError("disk full")
            return super()._pass(call, effect, torn)

    storage = Full(MemoryStorage())
    with closing(MarkerBatches(storage, INSTANT, BATCHED)) as batches:
        with pytest.raises(StorageError, match="a marker could not be written: disk full"):
            batches.create(path(1), MarkerType.CREATE)
        failing[0] = False
        batches.create(path(1), MarkerType.CREATE)
    assert marked_files(storage, INSTANT) == frozenset({path(1)})
    with pytest.raises(StorageError, match="has ended"):
        batches.create(path(2), MarkerType.CREATE)


def test_server_creates_the_markers_of_other_processes() -> None:
    storage = MemoryStorage()
    with closing(MarkerBatches(storage, INSTANT, BATCHED)) as batches:
        with serving(batches, "127.0.0.1", "secret") as route:
            copy = pickle.loads(pickle.dumps(route))
            assert "secret" not in repr(route)
            with ThreadPoolExecutor(20) as pool:
                list(pool.map(lambda number: copy.create(storage, INSTANT, path(number), MarkerType.CREATE), range(60)))
            with pytest.raises(AlreadyExistsError, match="exists already"):
                copy.create(storage, INSTANT, path(1), MarkerType.CREATE)
            with pytest.raises(StorageError, match="answered 403: the token is wrong"):
                ServerMarkers(route.host, route.port, "guess").create(storage, INSTANT, path(99), MarkerType.CREATE)
            assert request(route, "/v1/hoodie/marker/all", "{}") == 404
            for body in ("", "{", "[]", '{"path": "a"}', '{"path": "a", "type": "DELETE"}', "x" * 70_000):
                assert request(route, "/v1/hoodie/marker/create", body) == 400
        assert marked_files(storage, INSTANT) == frozenset({path(number) for number in range(60)})
        with pytest.raises(StorageError, match="does not answer for the marker of"):
            copy.create(storage, INSTANT, path(99), MarkerType.CREATE)


def request(route: ServerMarkers, url: str, body: str) -> int:
    with closing(http.client.HTTPConnection(route.host, route.port, timeout=10)) as connection:
        connection.request("POST", url, body, {"X-Pyhudi-Token": route.token})
        return connection.getresponse().status


def kind_of(storage, options: dict[str, str], driver_host: str | None) -> type:
    with markers_of(storage, INSTANT, marker_settings(resolve(options)), driver_host) as route:
        return type(route)


def test_kind_follows_option_and_falls_back_as_apache_hudi_does(caplog) -> None:
    local, cloud = MemoryStorage(), CloudStorage("s3://b/t", ())
    hdfs = type("Hdfs", (), {"uri": "hdfs://a/t"})()
    batched, unserved = {TYPE: "timeline_server_based"}, {"hoodie.embed.timeline.server": "false"}
    direct = type(DIRECT_MARKERS)
    assert kind_of(local, {}, None) is kind_of(local, {}, "127.0.0.1") is kind_of(cloud, {}, None) is direct
    assert kind_of(cloud, {}, "127.0.0.1") is ServerMarkers
    assert kind_of(cloud, {TYPE: "DIRECT"}, "127.0.0.1") is kind_of(cloud, unserved, "127.0.0.1") is direct
    assert kind_of(local, batched, None) is BatchedMarkers
    assert kind_of(local, batched | unserved, None) is BatchedMarkers
    assert kind_of(local, batched, "127.0.0.1") is ServerMarkers
    assert caplog.text == ""
    with caplog.at_level(logging.WARNING):
        assert kind_of(hdfs, batched, None) is direct
        assert kind_of(local, batched | unserved, "127.0.0.1") is direct
        assert kind_of(local, batched, "203.0.113.1") is direct
    assert "HDFS does not replace files" in caplog.text
    assert r"hoodie.embed.timeline.server=false" in caplog.text
    assert "no server can listen at 203.0.113.1" in caplog.text


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_write_has_markers_of_the_kind_that_its_options_name(tmp_path, kind, monkeypatch) -> None:
    schema = pa.schema({"id": pa.int64(), "city": pa.string()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["city"], table_type=kind)
    listings = list[list[str]]()
    write = LocalStorage.replace

    def replace(self, path, data, *, expected=None):
        write(self, path, data, expected=expected)
        if path.startswith(TEMP_FOLDER):
            listings.append(sorted(one.name for one in (tmp_path / "t" / ".hoodie" / ".temp").glob("*/*")))

    monkeypatch.setattr(LocalStorage, "replace", replace)
    options = {TYPE: "TIMELINE_SERVER_BASED", "hoodie.markers.timeline_server_based.batch.interval_ms": "0"}
    table.upsert([{"id": number, "city": f"c{number}"} for number in range(5)], options=options)
    table.upsert([{"id": number, "city": f"c{number}"} for number in range(6)], options=options)
    assert ["MARKERS.type", "MARKERS0"] in listings
    assert {name for listing in listings for name in listing if not name.startswith(("MARKERS", "."))} == set()
    assert table.count() == 6
    assert table.inspect.health().num_rows == 0
    assert not (tmp_path / "t" / ".hoodie" / ".temp").exists() or not list((tmp_path / "t" / ".hoodie" / ".temp").iterdir())


@pytest.mark.parametrize(("name", "value"), [(TYPE, "NONE"), ("hoodie.markers.timeline_server_based.batch.num_threads", "0")])
def test_other_values_are_refused(tmp_path, name, value) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    with pytest.raises(OptionError, match=name.replace(".", r"\.")):
        table.upsert([{"id": 1}], options={name: value})


def test_reader_takes_both_kinds_in_one_folder_and_what_apache_hudi_joined() -> None:
    storage = MemoryStorage()
    lines = [f"{path(number)}.marker.CREATE" for number in range(6)]
    storage.replace(f"{FOLDER}/MARKERS.type", b"TIMELINE_SERVER_BASED")
    storage.replace(f"{FOLDER}/MARKERS0", f"{lines[0]},{lines[1]}\n{lines[2]}\n".encode())
    storage.replace(f"{FOLDER}/MARKERS13", f"{lines[3]}\n{lines[4]}\np=1/0000".encode())
    storage.create(f"{FOLDER}/{lines[5]}", b"")
    assert marked_files(storage, INSTANT) == frozenset({path(number) for number in range(6)})
    assert marked_appends(storage, INSTANT) == frozenset()
