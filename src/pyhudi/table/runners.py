"""Makes the runner of a service from what a caller or the options of a write say."""

from __future__ import annotations

from typing import TypeVar

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.service.service_engine import Progress, ServiceRunner
from pyhudi.spec.options import Options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.write.options.write_config import writer_settings

Runner = TypeVar("Runner", bound=ServiceRunner)


def runner_of(
    kind: type[Runner], storage: Storage, clock: Clock, ids: Ids, options: Options, engine: Engine | None, progress: Progress | None
) -> Runner:
    """Return a runner of a kind; `engine` None means threads of this process."""
    return kind(
        storage,
        clock,
        ids,
        engine or LocalEngine(),
        writer_settings(options),
        options.integer("hoodie.memory.compaction.max.size"),
        options.integer("hoodie.write.lock.wait_time_ms") / 1000,
        progress,
    )
