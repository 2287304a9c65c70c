"""Context of a table service: storage, lock, the engine of its tasks, and the callback that hears how far it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyhudi.engine.engine_protocol import Engine, Result, Task
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.read.snapshot.find_table import BASE_PATH, check_base_path
from pyhudi.spec.options import Options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.failed_writes_policy import EAGER, FailedWritesSettings, failed_writes_settings
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, locked_table
from pyhudi.write.options.write_config import writer_settings

#: Tasks between two reports of progress.
_ROUND = 8

#: Called with the numbers of tasks done and of all tasks.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ServiceRunner:
    """Runs services of one table. `wait_s` is how long to wait for the table's lock, `merge_bytes` how many bytes of a slice's logs a
    task holds at once.
    """

    storage: Storage
    clock: Clock
    ids: Ids
    engine: Engine
    writer: WriterSettings
    merge_bytes: int
    wait_s: float = 60.0
    progress: Progress | None = None
    failed_writes: FailedWritesSettings = EAGER

    @contextlib.contextmanager
    def locked(self, wait_s: float | None = None) -> Iterator[LockedTable]:
        """Hold the table's lock, for which to wait `wait_s` seconds if that is given; errors as in `locked_table`."""
        wait_s = self.wait_s if wait_s is None else wait_s
        with locked_table(self.storage, wait_s, self.clock, self.ids, heartbeats=self.failed_writes.heartbeats) as table:
            yield table

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Run the tasks, all at once, or in rounds when somebody wants to see how far it is; an engine with many workers is not held up."""
        count = len(tasks)
        step = _ROUND if self.progress is not None and isinstance(self.engine, LocalEngine) else max(1, count)
        results: list[Result] = []
        for begin in range(0, count, step):
            self._tell(begin, count)
            results += self.engine.run(function, tasks[begin : begin + step])
        self._tell(count, count)
        return results

    def _tell(self, done: int, count: int) -> None:
        if self.progress is not None:
            self.progress(done, count)


def service_runner(
    storage: Storage, clock: Clock, ids: Ids, options: Options, engine: Engine | None = None, progress: Progress | None = None
) -> ServiceRunner:
    """Return the context of a service by its options; `engine` None means threads of this process.

    Raises:
        OptionError: `hoodie.base.path` names another table.
    """
    check_base_path(options.get(BASE_PATH), storage.uri)
    return ServiceRunner(
        with_lock_provider(storage, options),
        clock,
        ids,
        engine or LocalEngine(),
        writer_settings(options),
        options.integer("hoodie.memory.compaction.max.size"),
        options.integer("hoodie.write.lock.wait_time_ms") / 1000,
        progress,
        failed_writes_settings(options),
    )
