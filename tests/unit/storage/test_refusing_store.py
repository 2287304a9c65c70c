"""A store that refuses all requests but those for the lock, from a step of a read, a write or a service on: an error of one class names the
table, nothing of what failed is visible, no row is lost, and the next write goes on with what was left.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import StorageError, UnknownOutcomeError
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.remote import cloud_client
from tests.slow_cases import slow_cases
from tests.unit.storage.cloud_store import CountingObstore, new_url, serve_from_memory

exceptions = pytest.importorskip("obstore.exceptions")

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
ONE_CLOCK = {"hoodie.time.generator.max_expected_clock_skew_ms": "1"}
WITHOUT_SERVICES = {**ONE_CLOCK, "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false"}
SLOW_DOWN = "Error performing PUT http://s3/b, after 6 retries, max_retries: 6 - Server returned non-2xx status code: 503 Slow Down"

ACTIONS: dict[str, Callable[[HudiTable], object]] = {
    "read": lambda table: table.to_arrow(),
    "health": lambda table: table.inspect.health(),
    "upsert": lambda table: table.upsert([{"id": 7, "v": "new"}], options=WITHOUT_SERVICES),
    "clean": lambda table: table.services.clean(options={**ONE_CLOCK, "hoodie.clean.commits.retained": "1"}),
    "compact": lambda table: table.services.compact(options=ONE_CLOCK),
}
#: The most requests that each makes of a store that refuses none.
STEPS = {"read": 15, "health": 2, "upsert": 16, "clean": 19, "compact": 27}


class RefusingObstore(CountingObstore):
    """The functions of obstore, whose requests fail after the first `left` ones; with `is_done` the first of these is done all the same."""

    left: int | None = None
    is_done = False

    def __getattr__(self, name: str) -> Any:
        function = super().__getattr__(name)
        if name not in ("get", "get_range", "head", "put", "delete", "list", "list_with_delimiter"):
            return function

        def call(store: Any, path: Any = None, *arguments: Any, **named: Any) -> Any:
            if self.left is not None and not str(path).startswith(".hoodie/.locks"):
                self.left -= 1
                if self.left < 0:
                    if self.is_done and self.left == -1:
                        function(store, path, *arguments, **named)
                    raise exceptions.GenericError(f"{SLOW_DOWN}\n\nDebug source: of Rust")
            return function(store, path, *arguments, **named)

        return call


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> RefusingObstore:
    serve_from_memory(monkeypatch)
    refusing = RefusingObstore()
    monkeypatch.setattr(cloud_client, "obstore_functions", lambda: refusing)
    return refusing


CASES = [
    (kind, action, step)
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    for action in ACTIONS
    for step in range(STEPS[action])
    if (kind, action) != ("COPY_ON_WRITE", "compact")
]
FAST = [("COPY_ON_WRITE", "read", 2), ("COPY_ON_WRITE", "health", 1), ("MERGE_ON_READ", "upsert", 9)]
FAST += [("COPY_ON_WRITE", "clean", 12), ("MERGE_ON_READ", "compact", 14)]


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES) - set(FAST)), ids=lambda case: "-".join(map(str, case)))
def test_nothing_of_what_failed_is_seen_and_the_next_write_goes_on(
    case: tuple[str, str, int], is_done: bool, store: RefusingObstore
) -> None:
    kind, action, step = case
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="t", keys=["id"], table_type=kind)
    for version in "abc":
        table.upsert([{"id": 1, "v": version}, {"id": 2, "v": version}], options=WITHOUT_SERVICES)
    expected = {1: "c", 2: "c", 8: "after"}
    store.left, store.is_done = step, is_done
    failure: StorageError | UnknownOutcomeError | None = None
    try:
        ACTIONS[action](HudiTable.open(url))
    except (StorageError, UnknownOutcomeError) as error:
        failure = error
    assert failure is None or (f"table {url}" in str(failure) and "Debug source" not in str(failure))
    refused, store.left = store.left < 0, None
    assert case not in FAST or refused
    assert refused or failure is None
    HudiTable.open(url).upsert([{"id": 8, "v": "after"}], options=ONE_CLOCK)
    rows = {row["id"]: row["v"] for row in HudiTable.open(url).to_arrow().to_pylist()}
    if action == "upsert" and not isinstance(failure, StorageError):
        assert failure is not None or 7 in rows
        expected |= {7: "new"} if 7 in rows else {}
    assert rows == expected
    waiting = {row["problem"].partition(":")[0] for row in HudiTable.open(url).inspect.health().to_pylist()}
    assert waiting <= {"compaction is requested", "compaction is inflight"}
    if waiting:
        table.services.compact(options=ONE_CLOCK)
        assert HudiTable.open(url).inspect.health().to_pylist() == []


OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
CLEANS = {**ONE_CLOCK, "hoodie.clean.commits.retained": "1"}
ADVICE = "planned, and to be run by table.services.clean(), or by the next write that cleans"
NEW = [{"id": 8, "v": "after"}]


class LaterClock:
    """Is three minutes ahead: a heartbeat lives for two."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(minutes=3)


#: What comes after the clean that failed, and whether it ends that one: a write that allows others leaves a clean to them for two minutes.
NEXT: dict[str, tuple[Callable[[str], object], bool]] = {
    "write": (lambda url: HudiTable.open(url).upsert(NEW, options=CLEANS), True),
    "clean": (lambda url: HudiTable.open(url).services.clean(options=CLEANS), True),
    "write with others": (lambda url: HudiTable.open(url).upsert(NEW, options=CLEANS | OCC), False),
    "clean with others": (lambda url: HudiTable.open(url).services.clean(options=CLEANS | OCC), True),
    "later write with others": (lambda url: HudiTable(open_storage(url), clock=LaterClock()).upsert(NEW, options=CLEANS | OCC), True),
}


@pytest.mark.parametrize("action", NEXT)
@pytest.mark.parametrize("step", [9, 15])
def test_clean_that_has_not_ended_is_ended_by_the_next_one(step: int, action: str, store: RefusingObstore) -> None:
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="t", keys=["id"])
    for version in "abcd":
        table.upsert([{"id": 1, "v": version}], options=WITHOUT_SERVICES)
    store.left = step
    with pytest.raises(StorageError):
        HudiTable.open(url).services.clean(options=CLEANS)
    store.left = None
    problems = HudiTable.open(url).inspect.health().column("problem").to_pylist()
    pending = [problem for problem in problems if problem.startswith("clean is ")]
    assert [problem.partition(": ")[2] for problem in pending] == [ADVICE]
    run, ends_it = NEXT[action]
    run(url)
    assert (HudiTable.open(url).inspect.health().num_rows == 0) is ends_it
    assert HudiTable.open(url).to_arrow(filter="id = 1")["v"].to_pylist() == ["d"]
