"""Syncs of one table at a time, and what a real metastore says to those that another was faster than."""

from __future__ import annotations

import importlib
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import load_bindings
from pyhudi.errors import CatalogError
from tests.servers.synced import HIVE, Synced, fill, new_trips


@pytest.fixture
def filled(metastore: str, tmp_path: Path) -> Synced:
    return fill(new_trips(metastore, tmp_path, "at_a_time", options={f"{HIVE}.sync_as_datasource": "false"}))


CASES = [("hms", 4, 1), pytest.param("hms", 20, 2, marks=pytest.mark.slow), pytest.param("jdbc", 20, 2, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("way", "partitions", "rounds"), CASES)
def test_syncs_at_a_time_all_succeed(filled: Synced, request: pytest.FixtureRequest, way: str, partitions: int, rounds: int) -> None:
    """Four of a table that no catalog knows, and four after a commit that adds, drops and alters."""
    filled.table.upsert([{"id": number, "city": f"c{number}"} for number in range(10, 10 + partitions)])
    options = {f"{HIVE}.mode": way}
    if way == "jdbc":
        options[f"{HIVE}.jdbcurl"] = request.getfixturevalue("server")
    four_syncs(filled, options)
    for number in range(rounds):
        filled.table.alter(add={f"fare{number}": pa.float64()})
        fares = {f"fare{column}": 1.0 for column in range(number + 1)}
        filled.table.upsert([{"id": 100 + number, "city": f"new{number}", **fares}])
        filled.table.delete(partitions=[f"c{10 + 2 * number}", f"c{11 + 2 * number}"])
        four_syncs(filled, options)


def four_syncs(one: Synced, options: dict[str, str]) -> None:
    """Run four at a time; the catalog has all partitions then, and a fifth finds nothing to do."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            Synced(HudiTable.open(one.table.storage.uri), one.uri, one.database, one.options).sync(options)
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(map(str, errors)) == []
    expected = {(row["city"],) for row in one.table.to_arrow(columns=["city"]).to_pylist()}
    assert one.partitions("trips").keys() == expected
    assert one.sync(options)[0].action == "unchanged"


CALLS = (
    "create_database",
    "create_table_with_environment_context",
    "alter_table_with_environment_context",
    "add_partitions_req",
    "drop_partitions_req",
    "alter_partitions_with_environment_context",
    "get_table",
    "get_partitions_by_names",
)


def internal_error() -> Exception:
    kind = importlib.import_module("thrift.Thrift").TApplicationException
    error: Exception = kind(kind.INTERNAL_ERROR, "Internal error processing that")
    return error


def disturb(patched: pytest.MonkeyPatch, name: str, times: int, error: Exception, *, is_done: bool) -> list[str]:
    """Let the first calls of a name fail, on any connection, before or after the metastore has done them; returns the list of these."""
    bindings, _ = load_bindings()
    method = getattr(bindings.Client, name)
    failed: list[str] = []

    def call(*arguments: Any) -> Any:
        if len(failed) == times:
            return method(*arguments)
        failed.append(name)
        if is_done:
            method(*arguments)
        raise error

    patched.setattr(bindings.Client, name, call)
    return failed


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("kind", ["internal error", "MetaException"])
def test_calls_that_fail_inside_the_metastore_are_made_again(
    filled: Synced, monkeypatch: pytest.MonkeyPatch, kind: str, is_done: bool
) -> None:
    """As another process that does the same makes them fail: what is done then counts, what is left is done."""
    error = internal_error() if kind == "internal error" else load_bindings()[1].MetaException("Cannot read fields from a deleted object")
    monkeypatch.setattr("pyhudi.repeated_calls._PAUSES", (0.01, 0.01))
    with monkeypatch.context() as patched:
        failed = {name: disturb(patched, name, 2, error, is_done=is_done) for name in CALLS}
        touch = {"hoodie.meta.sync.touch.partitions.enabled": "true"}
        filled.sync(touch)
        filled.table.alter(add={"fare": pa.float64()})
        filled.table.upsert([{"id": 1, "city": "oslo", "fare": 1.0}, {"id": 3, "city": "bonn", "fare": 1.0}])
        filled.table.delete(partitions=["rome"])
        (result,) = filled.sync(touch)
    assert {name: len(calls) for name, calls in failed.items()} == dict.fromkeys(CALLS, 2)
    assert (result.added, result.dropped, result.touched) == (1, 1, 1)
    assert filled.partitions("trips").keys() == {("oslo",), ("bonn",)}
    assert filled.entry("trips").sd.cols[-1].name == "fare"
    assert filled.sync()[0].action == "unchanged"


def test_a_call_that_fails_each_time_is_an_error_and_the_next_sync_goes_on(filled: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.repeated_calls._PAUSES", (0.01, 0.01))
    filled.sync()
    filled.table.delete(partitions=["rome"])
    with monkeypatch.context() as patched:
        failed = disturb(patched, "drop_partitions_req", 100, internal_error(), is_done=False)
        with pytest.raises(CatalogError, match=r"refused dropping 1 partition.*Internal error processing"):
            filled.sync()
    assert len(failed) == 3
    assert filled.sync()[0].dropped == 1
