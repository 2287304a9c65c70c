"""Threads that are kept: no use of them lets one end on the caller's thread, where a Ctrl-C would be lost meanwhile."""

from __future__ import annotations

import gc
import io
import itertools
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
import pytest

from pyhudi import workers
from pyhudi.codec.hfile.reader import HFileReader
from pyhudi.codec.hfile.writer import HFileWriter
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.read.snapshot.prefetch import side_by_side
from pyhudi.table.hudi_table import HudiTable
from pyhudi.workers import wait_for_background

numbers = itertools.count()


@pytest.fixture
def ended_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of thread objects that the main thread let go of."""
    names: list[str] = []
    started = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        name = thread.name
        weakref.finalize(thread, lambda: names.append(name) if threading.current_thread() is threading.main_thread() else None)
        started(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(workers, "_workers", workers.Workers())
    yield names
    gc.collect()


def run_tasks() -> None:
    LocalEngine(threads=2).run(abs, [1, 2, 3])


def read_streams() -> None:
    assert list(side_by_side([lambda: iter("ab"), lambda: iter("c")])) == ["a", "b", "c"]


def read_hfile() -> None:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=0, block_bytes=1024)
    for number in range(1000):
        writer.append(b"%06d" % number, b"value")
    writer.finish()
    assert len(list(HFileReader(sink, sink.tell()).entries())) == 1000


def compact_in_the_background() -> None:
    table = HudiTable.create(
        f"memory://threads-{next(numbers)}", pa.schema({"id": pa.int64()}), name="t", keys=["id"], table_type="MERGE_ON_READ"
    )
    options = {"hoodie.datasource.compaction.async.enable": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    for number in range(3):
        table.upsert([{"id": number}], options=options)
        wait_for_background()


@pytest.mark.parametrize("use", [run_tasks, read_streams, read_hfile, compact_in_the_background])
def test_no_thread_ends_on_the_callers(use: Callable[[], None], ended_here: list[str]) -> None:
    for _ in range(3):
        use()
    gc.collect()
    assert ended_here == []


def test_threads_are_begun_when_all_others_wait() -> None:
    """Work may wait for other work: there is always a thread for it."""
    pool = workers.Workers()

    def nested(depth: int) -> int:
        return 42 if not depth else pool.begin(partial(nested, depth - 1))()

    assert nested(20) == 42


def test_error_of_a_call_is_raised_where_it_is_waited_for() -> None:
    def fails() -> None:
        raise KeyError("lost")

    waited = workers.workers().begin(fails)
    with pytest.raises(KeyError, match="lost"):
        waited()


def test_threads_beyond_those_that_may_idle_end() -> None:
    pool, together = workers.Workers(), threading.Barrier(20, timeout=20)
    before = threading.active_count()
    waited = [pool.begin(together.wait) for _ in range(20)]
    assert sorted(wait() for wait in waited) == list(range(20))
    assert pool.begin(lambda: 1)() == 1
    for _ in range(200):
        if threading.active_count() - before <= 9:
            break
        threading.Event().wait(0.01)
    assert 0 < threading.active_count() - before <= 9


@pytest.mark.parametrize("use", [run_tasks, read_streams, read_hfile, compact_in_the_background])
def test_work_is_done_where_the_system_starts_no_more_threads(use: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "_workers", workers.Workers())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    use()


def test_work_that_no_thread_took_is_not_done_twice_later(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, done, begin = workers.Workers(), [], threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert pool.begin(lambda: done.append(1))() is None
    assert pool.take(lambda: done.append(2), times=3) == 0
    monkeypatch.setattr(threading.Thread, "start", begin)
    assert pool.begin(lambda: done.append(3))() is None
    assert done == [1, 3]


def test_the_end_of_a_process_waits_for_work_and_stops_what_nobody_reads_on() -> None:
    """Arrow's threads that read by Python's files would hang or abort a process whose interpreter has ended."""
    script = (
        "import itertools, threading, time\n"
        "from pyhudi.read.snapshot.prefetch import side_by_side\n"
        "from pyhudi.workers import workers\n"
        "streams = side_by_side([itertools.count, itertools.count], ahead=1)\n"
        "next(streams)\n"
        "begun = threading.Event()\n"
        "def work():\n"
        "    begun.set(); time.sleep(0.2); print('done')\n"
        "workers().begin(work)\n"
        "begun.wait()\n"
    )
    started = time.perf_counter()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == "done\n"
    assert time.perf_counter() - started < workers._LAST_WORK_S
