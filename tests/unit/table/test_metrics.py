"""Metrics of commits and table services: their names and values, each reporter, and that no failure of theirs is one of a commit."""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import pyhudi
from pyhudi.errors import HudiError, OptionError, UnsupportedError
from tests.unit.table.tables import make_table, ride

ON = {"hoodie.metrics.on": "true"}
#: Those that Apache Hudi 1.2.0 sent to a Graphite of ours for a commit, besides its timers.
OF_A_COMMIT = {
    "commitTime",
    "duration",
    "totalBytesWritten",
    "totalCompactedRecordsUpdated",
    "totalCreateTime",
    "totalFilesInsert",
    "totalFilesUpdate",
    "totalInsertRecordsWritten",
    "totalLogFilesCompacted",
    "totalLogFilesSize",
    "totalLogRecordsCompacted",
    "totalPartitionsWritten",
    "totalRecordsDeleted",
    "totalRecordsWritten",
    "totalScanTime",
    "totalUpdateRecordsWritten",
    "totalUpsertTime",
}


class Recorder:
    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def report(self, values: Mapping[str, int]) -> None:
        self.values.update(values)

    def take(self) -> dict[str, int]:
        values, self.values = self.values, {}
        return values


class Failing:
    def report(self, values: Mapping[str, int]) -> None:
        raise RuntimeError(f"{len(values)} values are too many")


@pytest.fixture
def recorder() -> Recorder:
    reporter = Recorder()
    pyhudi.register_metrics_reporter("com.example.Recorder", reporter)
    return reporter


RECORDED = {**ON, "hoodie.metrics.reporter.class": "com.example.Recorder"}


@pytest.mark.parametrize(("table_type", "action"), [("COPY_ON_WRITE", "commit"), ("MERGE_ON_READ", "deltacommit")])
def test_commits_have_the_metrics_of_apache_hudi(recorder: Recorder, table_type: str, action: str) -> None:
    table = make_table(partition_by=["city"], table_type=table_type)
    inserted = table.insert([ride(1), ride(2), ride(3, "rome")], RECORDED)
    values = recorder.take()
    assert {name.removeprefix(f"rides.{action}.") for name in values} == OF_A_COMMIT
    assert inserted.instant is not None
    expected = {"totalFilesInsert": 2, "totalFilesUpdate": 0, "totalRecordsWritten": 3, "totalInsertRecordsWritten": 3}
    expected |= {"totalPartitionsWritten": 2, "totalBytesWritten": inserted.bytes_written}
    assert {name: values[f"rides.{action}.{name}"] for name in expected} == expected
    assert 0 <= values[f"rides.{action}.duration"] < 600_000
    table.upsert([ride(1, value=5)], {**RECORDED, "hoodie.metrics.reporter.metricsname.prefix": "west.rides"})
    values = recorder.take()
    assert (values[f"west.rides.{action}.totalFilesUpdate"], values[f"west.rides.{action}.totalUpdateRecordsWritten"]) == (1, 1)
    assert table.upsert([], RECORDED).instant is None
    assert recorder.take() == {}, "nothing was committed"


def test_services_have_metrics_inline_and_by_a_call(recorder: Recorder) -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.insert([ride(1)])
    inline = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1", "hoodie.clean.commits.retained": "1"}
    table.upsert([ride(1, value=1)], {**RECORDED, **inline})
    values = recorder.take()
    assert {name.removeprefix("rides.compaction.") for name in values if "compaction." in name} == OF_A_COMMIT
    assert (values["rides.compaction.totalLogFilesCompacted"], values["rides.deltacommit.totalRecordsWritten"]) == (1, 1)
    table.upsert([ride(1, value=2)], {**RECORDED, **inline})
    values = recorder.take()
    assert values["rides.clean.numFilesDeleted"] > 0
    table.upsert([ride(1, value=3)])
    table.services.compact(options=RECORDED)
    assert recorder.take()["rides.compaction.totalFilesUpdate"] == 1
    table.services.clean(options={**RECORDED, "hoodie.clean.commits.retained": "1"})
    table.services.archive(options=RECORDED)
    assert set(recorder.take()) >= {"rides.archive.duration", "rides.archive.numInstantsArchived"}
    table.services.cluster(options=RECORDED)
    assert recorder.take()["rides.clustering.totalRecordsWritten"] == 1


def test_what_stays_in_the_process(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    table = make_table()
    name = "stored.commit.totalRecordsWritten"
    prefix = {"hoodie.metrics.reporter.metricsname.prefix": "stored"}
    table.insert([ride(1), ride(2)], {**ON, **prefix, "hoodie.metrics.reporter.type": "INMEMORY"})
    assert pyhudi.reported_metrics()[name] == 2
    table.upsert([ride(1, value=1)], {**ON, **prefix, "hoodie.metrics.reporter.type": "console"})
    assert f"{name} = 2" in capsys.readouterr().out.splitlines()
    with caplog.at_level(logging.INFO, "pyhudi.metrics"):
        table.upsert([ride(1, value=2)], {**ON, **prefix, "hoodie.metrics.reporter.type": "SLF4J"})
    assert f"{name} = 2" in caplog.messages


def test_graphite_and_statsd_get_lines() -> None:
    table, done = make_table(), threading.Event()
    lines: list[list[str]] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines.extend(line.decode().split() for line in self.rfile)
            done.set()

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        options = {"reporter.type": "GRAPHITE", "graphite.host": "127.0.0.1", "graphite.port": str(server.server_address[1])}
        options |= {"graphite.metric.prefix": "west", "reporter.metricsname.prefix": "my rides"}
        result = table.insert([ride(1)], {**ON, **{f"hoodie.metrics.{name}": value for name, value in options.items()}})
        assert result.failed_services == ()
        assert done.wait(10)
    values = {name: (int(value), int(seconds)) for name, value, seconds in lines}
    assert values["west.my-rides.commit.totalRecordsWritten"][0] == 1
    milliseconds, seconds = values["west.my-rides.commit.commitTime"]
    assert abs(milliseconds / 1000 - seconds) < 600

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10)
        statsd = {"pyhudi.metrics.statsd.host": "127.0.0.1", "pyhudi.metrics.statsd.port": str(receiver.getsockname()[1])}
        table.insert([ride(2)], {**ON, "hoodie.metrics.reporter.type": "STATSD", **statsd})
        assert "rides.commit.totalInsertRecordsWritten:1|g" in receiver.recv(2000).decode().splitlines()


@contextmanager
def gateway(status: int = 200) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    pushed: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            pushed.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, pushed
        server.shutdown()


def pushing(port: int, **more: str) -> dict[str, str]:
    options = {"host": "127.0.0.1", "port": str(port), "job.name": "night ly", **more}
    type_option = {"hoodie.metrics.reporter.type": "PROMETHEUS_PUSHGATEWAY"}
    return {**ON, **type_option, **{f"hoodie.metrics.pushgateway.{name}": value for name, value in options.items()}}


def test_prometheus_reads_them_and_gets_them_pushed() -> None:
    table = make_table()
    with gateway() as (port, pushed):
        table.insert([ride(1)], pushing(port, **{"report.labels": "team:data/x,env:test"}))
    ((path, text),) = pushed
    assert path == "/metrics/job/night%20ly/team/data%2Fx/env/test"
    assert "# TYPE rides_commit_totalRecordsWritten gauge\nrides_commit_totalRecordsWritten 1\n" in text
    with gateway(status=400) as (port, _):
        (failure,) = table.insert([ride(2)], pushing(port)).failed_services
    assert failure.startswith("the report of metrics failed: the Pushgateway at")
    assert failure.endswith("with status 400")

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {**ON, "hoodie.metrics.reporter.type": "PROMETHEUS", "hoodie.metrics.prometheus.port": str(port)}
    table.insert([ride(3)], options)
    assert table.insert([ride(4), ride(5)], options).failed_services == ()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert "rides_commit_totalInsertRecordsWritten 2\n" in answer.read().decode()


def test_a_reporter_that_fails_fails_no_commit_and_no_service(caplog: pytest.LogCaptureFixture) -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.insert([ride(1)])
    failing = {**ON, "hoodie.metrics.reporter.class": f"{__name__}:Failing"}
    (failure,) = table.upsert([ride(1, value=1)], failing).failed_services
    assert failure == "the report of metrics failed: the metrics reporter failed: RuntimeError: 17 values are too many"
    assert [result.state for result in table.services.compact(options=failing)] == ["completed"]
    assert "metrics of a table service could not be reported" in caplog.text
    nobody = {**ON, "hoodie.metrics.graphite.host": "127.0.0.1", "hoodie.metrics.graphite.port": "9"}
    (failure,) = table.upsert([ride(1, value=2)], nobody).failed_services
    assert "Graphite at 127.0.0.1:9" in failure
    assert table.to_arrow()["value"].to_pylist() == [2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reporter.type": "JMX"}, UnsupportedError, "JMX belongs to a JVM. Served are CONSOLE, GRAPHITE"),
        ({"reporter.type": "DATADOG"}, UnsupportedError, "its agent takes StatsD"),
        ({"reporter.type": "PROMETEUS"}, OptionError, "is no type of reporter; it can be CONSOLE"),
        ({"reporter.class": "com.example.Unknown"}, UnsupportedError, "register_metrics_reporter"),
        ({"reporter.class": f"{__name__}:ride"}, OptionError, r"no class with a method report\(values\)"),
        ({"graphite.port": "70000"}, OptionError, "a number from 1 to 65535"),
        ({"reporter.type": "PROMETHEUS_PUSHGATEWAY"}, OptionError, "set hoodie.metrics.pushgateway.job.name"),
        ({"reporter.type": "PROMETHEUS", "prometheus.port": "0"}, OptionError, "is no port"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(options: dict[str, Any], error: type[HudiError], message: str) -> None:
    table = make_table(table_type="MERGE_ON_READ")
    given = {**ON, **{f"hoodie.metrics.{name}": value for name, value in options.items()}}
    with pytest.raises(error, match=message):
        table.insert([ride(1)], given)
    assert table.history().num_rows == 0
    with pytest.raises(error, match=message):
        table.services.compact(options=given)


_NO_GATEWAYS = [("host", "http://gateway:9091"), ("host", "a b"), ("report.labels", "team"), ("report.labels", "1a:b")]


@pytest.mark.parametrize(("name", "value"), _NO_GATEWAYS)
def test_a_pushgateway_that_is_none_is_refused(name: str, value: str) -> None:
    table = make_table()
    with pytest.raises(OptionError, match=f"hoodie.metrics.pushgateway.{name}"):
        table.insert([ride(1)], pushing(9091, **{name: value}))
    assert table.history().num_rows == 0
