"""The steps of a write, with an engine made for the test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.table.write_pipeline import write_rows
from pyhudi.write.options.write_config import choose
from pyhudi.write.pipeline.local_tagger import LocalTagger
from pyhudi.write.pipeline.write_stage import TaggedBatch, WriteRequest, WriteStage
from pyhudi.write.plan.workload_profile import Profile
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.tagging.tag import TagOptions
from tests.unit.table.tables import SCHEMA, make_table, ride, rows_of

ROWS = pa.Table.from_pylist([ride(1)], SCHEMA)


@dataclass(frozen=True)
class Stream:
    """A stream of rows that all were filtered out, or whose tasks fail."""

    tagging: TagOptions
    fails: bool
    profile: Profile = field(default_factory=Profile)
    late: int = 0
    partitions: tuple[str, ...] | None = None
    is_stream: bool = True

    def sample(self) -> tuple[()]:
        return ()

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        assert plan.is_stream
        assert plan.assignments == ()
        if self.fails:
            raise OSError("the disk is full")
        return []


@dataclass(frozen=True)
class StreamingEngine:
    """An engine that streams."""

    fails: bool = False
    name: str = "streaming"
    reason: str = "a test"
    engine: LocalEngine = field(default_factory=LocalEngine)
    service_engine: None = None
    driver_host: None = None
    columns: pa.Schema = SCHEMA

    @contextlib.contextmanager
    def tag(self, stage: WriteStage) -> Iterator[TaggedBatch]:
        yield Stream(stage.resolve_tagging(None), self.fails)


def test_engine_and_reason_of_a_write_are_those_of_its_tagger() -> None:
    table = make_table()
    config = choose(resolve({}), table.config, Operation.UPSERT)
    result = write_rows(table, WriteRequest(Operation.UPSERT), config, LocalTagger(ROWS, "a test"), started=0)
    assert (result.engine, result.engine_reason, result.inserted) == ("local", "a test", 1)
    assert rows_of(table) == [ride(1)]


def test_stream_without_files_is_not_committed() -> None:
    table = make_table()
    config = choose(resolve({}), table.config, Operation.BULK_INSERT)
    result = write_rows(table, WriteRequest(Operation.BULK_INSERT), config, StreamingEngine(), started=0)
    assert (result.instant, result.engine) == (None, "streaming")
    assert table.history().filter(pa.compute.field("state") == "completed").num_rows == 0


def test_stream_whose_task_fails_is_rolled_back() -> None:
    table = make_table()
    config = choose(resolve({}), table.config, Operation.BULK_INSERT)
    with pytest.raises(OSError, match="the disk is full"):
        write_rows(table, WriteRequest(Operation.BULK_INSERT), config, StreamingEngine(fails=True), started=0)
    assert set(table.history()["action"].to_pylist()) == {"rollback"}
    table.insert([ride(1)])
    assert rows_of(table) == [ride(1)]
