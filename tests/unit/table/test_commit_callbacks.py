"""Commit callbacks: what they are told, and that none of their failures is one of the commit."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import CommitCallbackMessage, HudiTable
from pyhudi.errors import HudiError, OptionError, UnsupportedError
from tests.unit.table.tables import make_table, ride

KEY = "hoodie.write.commit.callback"
SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "fare": pa.int64()})
ROW = {"id": "a", "city": "oslo", "fare": 1}


@dataclass
class Receiver:
    """A server of HTTP that notes what it is sent, and answers with `status`."""

    url: str = ""
    status: int = 200
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    received = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(body)))
            self.send_response(received.status)
            if received.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        do_GET = do_POST  # noqa: N815 - the name that the server looks for

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.url = f"http://127.0.0.1:{server.server_port}/commits"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield received
        server.shutdown()


class Recorder:
    messages: list[CommitCallbackMessage]

    def __init__(self) -> None:
        self.messages = []

    def call(self, message: CommitCallbackMessage) -> None:
        self.messages.append(message)


class Failing:
    def call(self, message: CommitCallbackMessage) -> None:
        raise RuntimeError(f"no mail for {message.table_name}")


def made(path: Path, table_type: str = "COPY_ON_WRITE") -> HudiTable:
    return HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)


def http(receiver: Receiver, **more: str) -> dict[str, str]:
    return {f"{KEY}.on": "true", f"{KEY}.http.url": receiver.url, **more}


@pytest.mark.parametrize(("table_type", "action"), [("COPY_ON_WRITE", "commit"), ("MERGE_ON_READ", "deltacommit")])
def test_http_callback_sends_the_message_of_apache_hudi(receiver: Receiver, tmp_path: Path, table_type: str, action: str) -> None:
    table = made(tmp_path / "t", table_type)
    headers = {f"{KEY}.http.api.key": "secret", f"{KEY}.http.custom.headers": "X-Team: data; X-At:12:30"}
    result = table.insert([ROW], http(receiver, **headers, _job="7"))
    ((path, sent, body),) = receiver.requests
    assert (path, sent["hudi-callback-key"], sent["x-team"], sent["x-at"]) == ("/commits", "secret", "data", "12:30")
    assert sent["content-type"] == "application/json; charset=UTF-8"
    assert (body["commitTime"], body["tableName"], body["basePath"]) == (result.instant, "t", str(tmp_path / "t"))
    assert (body["commitActionType"], body["extraMetadata"]["_job"]) == (action, "7")
    (stat,) = body["hoodieWriteStat"]
    assert (stat["numInserts"], stat["partitionPath"], (tmp_path / "t" / stat["path"]).exists()) == (1, "oslo", True)
    assert result.failed_services == ()
    assert table.upsert([], http(receiver)).instant is None
    assert len(receiver.requests) == 1, "nothing was committed"


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_server_that_refuses_fails_no_commit(receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int) -> None:
    receiver.status = status
    table = made(tmp_path / "t")
    result = table.insert([ROW], http(receiver, **{f"{KEY}.http.api.key": "secret"}))
    assert result.failed_services == (f"the commit callback failed: {receiver.url} answers the commit callback with status {status}",)
    assert "is committed, the commit callback failed" in caplog.text
    assert str(status) in str(result)
    assert "secret" not in caplog.text
    assert table.to_arrow().to_pylist() == [ROW]
    assert [path for path, *_ in receiver.requests] == ["/commits"], "no redirect is followed"


def test_a_server_that_is_not_there_fails_no_commit(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    options = {f"{KEY}.on": "true", f"{KEY}.http.url": "http://me:secret@127.0.0.1:9/x?token=secret"}
    (failure,) = table.insert([ROW], options).failed_services
    assert "http://127.0.0.1:9/x cannot be reached" in failure
    assert "secret" not in failure
    assert table.to_arrow().to_pylist() == [ROW]


def test_python_callbacks_are_registered_or_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder()
    pyhudi.register_commit_callback("com.example.Recorder", recorder)
    table = made(tmp_path / "t")
    result = table.insert([ROW], {f"{KEY}.on": "true", f"{KEY}.class": "com.example.Recorder"})
    (message,) = recorder.messages
    assert (message.commit_time, message.base_path, message.write_stats[0].num_inserts) == (result.instant, str(tmp_path / "t"), 1)
    named = {f"{KEY}.on": "true", f"{KEY}.class": f"{__name__}:Failing"}
    with caplog.at_level(logging.WARNING):
        result = table.upsert([{**ROW, "fare": 2}], named)
    assert result.failed_services == (
        f"the commit callback failed: the commit callback {__name__}:Failing failed: RuntimeError: no mail for t",
    )
    assert result.to_dict()["failed_services"] == list(result.failed_services)
    assert table.to_arrow()["fare"].to_pylist() == [2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, OptionError, f"set {KEY}.http.url"),
        ({"http.url": "host:80/x"}, OptionError, "give one like http://host:8080/path"),
        ({"http.url": "file:///etc/passwd"}, OptionError, "is no address"),
        ({"http.url": "http://h:99999999/x"}, OptionError, "is no address"),
        ({"http.url": "http://h/a b"}, OptionError, "is no address"),
        ({"http.url": "http://h/", "http.timeout.seconds": "0"}, OptionError, "above 0"),
        ({"http.url": "http://h/", "http.custom.headers": "X-A:1;nothing"}, OptionError, "header 2 of"),
        ({"http.url": "http://h/", "http.api.key": "a\nb"}, OptionError, "no header of HTTP can have"),
        ({"class": "com.example.Unknown"}, UnsupportedError, "register_commit_callback"),
        ({"class": "org.apache.hudi.utilities.callback.kafka.HoodieWriteCommitKafkaCallback"}, UnsupportedError, "client of Kafka"),
        ({"class": "org.apache.hudi.utilities.callback.pulsar.HoodieWriteCommitPulsarCallback"}, UnsupportedError, "client of Pulsar"),
        ({"class": f"{__name__}:nothing"}, OptionError, "no commit callback can be made"),
        ({"class": f"{__name__}:ROW"}, OptionError, r"no class with a method call\(message\)"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(options: dict[str, str], error: type[HudiError], message: str) -> None:
    table = make_table()
    row = ride(1)
    with pytest.raises(error, match=message):
        table.insert([row], {f"{KEY}.on": "true", **{f"{KEY}.{name}": value for name, value in options.items()}})
    assert table.history().num_rows == 0
    assert table.insert([row], {f"{KEY}.{name}": value for name, value in options.items() if value != "0"}).instant, "not on"
