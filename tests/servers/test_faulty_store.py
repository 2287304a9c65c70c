"""An S3 server that answers badly to each request of a write, a read and `health`, once each: nothing fails, and nothing is done twice.
One that hangs from a step of a write on: the write ends with an error in time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import AlreadyExistsError, HudiError, StorageError, UnknownOutcomeError
from pyhudi.storage.remote import cloud_storage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from tests.not_none import not_none
from tests.servers.faulty_server import FaultyServer, faulty_server
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.slow_cases import slow_cases

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
FAULTS = ("500", "500-after", "503", "429", "reset", "reset-after", "cut")
#: Of writes alone: S3 asks so for a repetition of a conditional write.
WRITES = "PUT"


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3_server(tmp_path_factory.mktemp("s3"), free_port()) as options:
        yield options


@pytest.fixture(scope="module")
def server(direct: dict[str, str]) -> Iterator[FaultyServer]:
    with faulty_server(not_none(urlsplit(direct["endpoint_url"]).port)) as one:
        yield one


def through(server: FaultyServer, direct: dict[str, str]) -> dict[str, str]:
    return {**direct, "endpoint_url": f"http://127.0.0.1:{server.server_port}"}


CASES = [(kind, fault) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for fault in (*FAULTS, "409")]
FAST = {("COPY_ON_WRITE", "500-after"), ("MERGE_ON_READ", "reset"), ("COPY_ON_WRITE", "409"), ("MERGE_ON_READ", "cut")}


@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES) - FAST), ids="-".join)
def test_each_request_that_ends_badly_once_is_repeated(case: tuple[str, str], server: FaultyServer, direct: dict[str, str]) -> None:
    kind, fault = case
    url, options = f"s3://bucket/{kind.lower()}-{fault}", through(server, direct)
    HudiTable.create(url, SCHEMA, name="t", keys=["id"], table_type=kind, storage_options=direct)
    HudiTable.open(url, direct).upsert([{"id": 1, "v": "a"}])
    server.once_each(fault, WRITES if fault == "409" else "GET HEAD PUT POST DELETE")
    HudiTable.open(url, options).upsert([{"id": 2, "v": "b"}])
    server.once_each(fault, WRITES if fault == "409" else "GET HEAD PUT POST DELETE")
    assert sorted(HudiTable.open(url, options).to_arrow()["id"].to_pylist()) == [1, 2]
    assert HudiTable.open(url, options).inspect.health().to_pylist() == []
    assert HudiTable.open(url, direct).history().num_rows == 2


def test_store_that_throttles_for_seconds_is_waited_for(server: FaultyServer, direct: dict[str, str]) -> None:
    table = HudiTable.create("s3://bucket/throttled", SCHEMA, name="t", keys=["id"], storage_options=through(server, direct))
    ends = time.monotonic() + 2.5
    server.fault = lambda _method, _path: "429" if time.monotonic() < ends else ""
    server.error_headers = {"Retry-After": "2"}
    table.upsert([{"id": 1, "v": "a"}])
    assert time.monotonic() > ends
    server.fault = lambda _method, _path: "503"
    began = time.monotonic()
    with pytest.raises(StorageError, match=r"table s3://bucket/throttled: .*The store refuses requests for the time being"):
        table.to_arrow()
    assert time.monotonic() - began < 25
    server.fault, server.error_headers = (lambda _method, _path: ""), {}
    assert table.to_arrow()["id"].to_pylist() == [1]


#: The steps of a write at which the server begins to hang, and whether the write is visible; None where its writer cannot know.
STEPS = {"requested": False, "parquet": False, "deltacommit.inflight": False, ".commit": None, "?delete": True}


@pytest.mark.parametrize("step", slow_cases(STEPS, set(STEPS) - {".commit"}))
def test_server_that_hangs_from_a_step_on_is_an_error_in_time(step: str, server: FaultyServer, direct: dict[str, str]) -> None:
    url = f"s3://bucket/hangs-{step.strip('.?')}"
    locks = {"hoodie.write.lock.storage.validity.timeout.secs": "10", "hoodie.write.lock.storage.renew.interval.secs": "1"}
    HudiTable.create(url, SCHEMA, name="t", keys=["id"], storage_options=direct).upsert([{"id": 1, "v": "a"}], options=locks)
    hangs: list[bool] = []

    def hang(method: str, path: str) -> str:
        if method in ("PUT", "POST") and path.endswith(step):
            hangs.append(True)
        return "hang" if hangs else ""

    server.resumed.clear()
    server.fault = hang
    began = time.monotonic()
    failure: HudiError | None = None
    try:
        HudiTable.open(url, {**through(server, direct), "timeout": "1"}).upsert([{"id": 2, "v": "b"}], options=locks)
    except HudiError as error:
        failure = error
    assert type(failure) is {True: type(None), False: StorageError, None: UnknownOutcomeError}[STEPS[step]], failure
    assert STEPS[step] is not False or "How long a request may take is the storage option 'timeout'" in str(failure)
    assert time.monotonic() - began < 90
    server.resumed.set()
    server.fault = lambda _method, _path: ""
    HudiTable.open(url, direct).upsert([{"id": 3, "v": "c"}], options={**locks, "hoodie.write.lock.wait_time_ms": "60000"})
    assert HudiTable.open(url, direct).to_arrow()["id"].to_pylist() == ([1, 2, 3] if STEPS[step] else [1, 3])
    assert HudiTable.open(url, direct).inspect.health().to_pylist() == []


#: Each attempt is an upload of its own, so an answer that is cut once for each request is cut in each attempt.
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "cut"])
def test_file_that_is_sent_in_parts_is_whole(
    fault: str, server: FaultyServer, direct: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud_storage, "_ONE_PUT_BYTES", 1 << 20)
    storage = CloudStorage(f"s3://bucket/parts-{fault}", tuple(through(server, direct).items()))
    server.once_each(fault)
    with storage.open_output("t") as sink:
        sink.write(bytes(range(256)) * (12 << 12))
    assert storage.read("t") == bytes(range(256)) * (12 << 12)


@pytest.mark.parametrize("fault", FAULTS)
def test_file_of_another_writer_is_not_taken_for_ones_own(fault: str, server: FaultyServer, direct: dict[str, str]) -> None:
    one, two = (CloudStorage(f"s3://bucket/files-{fault}", tuple(options.items())) for options in (direct, through(server, direct)))
    one.create("t", b"")
    server.once_each(fault)
    with pytest.raises(AlreadyExistsError):
        two.create("t", b"")
    two.create("u", b"")
    two.replace("u", b"2", expected=b"")
    assert one.read("u") == b"2"
