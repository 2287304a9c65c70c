"""Services that run after a commit wait for the table's lock in the order in which they came, like writes: none takes it out of turn."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.storage.lock_files.file_lock import FileLock
from pyhudi.storage.lock_files.lock_queue import LockQueue, _Ticket
from pyhudi.storage.lock_files.lock_record import LOCK_FILE

SCHEMA = pa.schema({"id": pa.string(), "v": pa.int64()})
SERVICES = {
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "4",
    "hoodie.clean.commits.retained": "1",
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "3",
}
WRITERS, COMMITS = 3, 8


class Turns:
    """When each holder of the table's lock began to ask for it, had its ticket, and was served; of the last two, None where it had none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turns: list[tuple[float, float | None, float]] = []
        acquire, take = FileLock.acquire, LockQueue._take
        taken: dict[int, float] = {}

        def noted_take(queue: LockQueue, ticket: _Ticket) -> None:
            take(queue, ticket)
            taken[threading.get_ident()] = time.monotonic()

        def noted_acquire(lock: FileLock, folder: int, name: str, timeout_s: float, uri: str) -> None:
            began = time.monotonic()
            taken.pop(threading.get_ident(), None)
            acquire(lock, folder, name, timeout_s, uri)
            if name == Path(LOCK_FILE).name:
                self.turns.append((began, taken.get(threading.get_ident()), time.monotonic()))

        # A thread that a busy machine does not run for a second is passed over, rightly.
        monkeypatch.setattr("pyhudi.storage.lock_files.file_lock._PATIENCE_S", 60.0)
        monkeypatch.setattr(FileLock, "acquire", noted_acquire)
        monkeypatch.setattr(LockQueue, "_take", noted_take)

    def out_of_order(self) -> list[tuple[float, float]]:
        """Pairs of a waiter and one that came when it was waiting, and was served before it."""
        waiting = [(ticket, served) for _, ticket, served in self.turns if ticket is not None]
        return [(served, other) for ticket, served in waiting for began, _, other in self.turns if began > ticket and other < served]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_nobody_is_served_before_those_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table_type: str) -> None:
    HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type=table_type)
    turns = Turns(monkeypatch)

    def write(writer: int) -> None:
        table = HudiTable.open(tmp_path / "t")
        for value in range(COMMITS):
            table.upsert(pa.Table.from_pylist([{"id": str(writer), "v": value}], SCHEMA), options=SERVICES)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    assert turns.out_of_order() == []
    assert sum(ticket is not None for _, ticket, _ in turns.turns) > COMMITS
    assert list(tmp_path.glob("t/.hoodie/timeline/history/*.parquet")), "nothing was archived"
