"""What passes between the steps of a write, and the protocol of an engine that takes part in it.

A `Tagger` holds the rows of one write, in this process or in Spark. It resolves the index with `WriteStage.resolve_tagging`, finds the file
group of each row, and hands out `TaggedBatch`, which runs the tasks of the plan that is made of its counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from pyhudi.engine.engine_protocol import Engine
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.resolve_index import BatchKeys, resolve_index
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.visibility import Visibility
from pyhudi.txn.locked_table import TableState
from pyhudi.write.bulk_insert_plan import BulkWrite
from pyhudi.write.input.prepare_rows import TableSchema
from pyhudi.write.options.validate_options import check_clustering, check_replacing
from pyhudi.write.options.write_config import WriteConfig
from pyhudi.write.plan.workload_profile import Profile
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.tagging.tag import TagOptions, tag_options

_log = logging.getLogger("pyhudi.index")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What the caller wants. `prepped` rows bring meta columns they were read with, `read_snapshot` the commits that they were
    read with; `partitions` names those to replace. With `columns`, updates bring these data columns alone
    (`pyhudi.write.input.partial_columns`).
    """

    operation: Operation
    prepped: bool = False
    partitions: tuple[str, ...] | None = None
    read_snapshot: Visibility | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """The table that a write is planned for: under its lock, or as it is now where the plan is only shown; and the time of the write."""

    table: TableState
    view: FileSystemView
    instant: str


@dataclass(frozen=True, slots=True)
class WriteStage:
    """What is known of a write before its rows are tagged; `latest` is the metadata of the commit before, None when there is none."""

    context: PlanningContext
    request: WriteRequest
    config: WriteConfig
    stored: TableSchema
    schema: TableSchema
    latest: CommitMetadata | None
    lookup: LookupContext

    @property
    def table_config(self) -> TableConfig:
        """The properties of the table, with the encoding of its keys."""
        return self.context.table.config

    @property
    def records(self) -> RecordContext:
        """What tasks know of the table's records."""
        return self.lookup.context

    def resolve_tagging(self, batch: BatchKeys | None) -> TagOptions:
        """Return how rows are tagged, with the index that the write asks; `batch` is None when no keys are looked up.

        Raises:
            OptionError: the options contradict how the table is laid out.
            UnsupportedError: the index cannot serve this table, or the operation.
        """
        rules, view = self.config.rules, self.context.view
        resolved = resolve_index(self.config.index, self.lookup, self.latest, batch, known_stay=rules.drop_known)
        check_clustering(self.config.options, resolved, view.config)
        check_replacing(rules.operation, resolved, view.config)
        tagging = tag_options(rules, resolved, view.config)
        if tagging.looks_up and batch is not None:
            _log.info("%s of table %s asks the index %s: %s", rules.operation.value, view.config.name, resolved.index.name, resolved.reason)
        return tagging

    def bulk_write(self, markers: MarkerRoute) -> BulkWrite:
        """Return what the tasks of a stream need, which write the rows to new file groups as they come."""
        context, table = self.context, self.context.table
        generator = key_generator(table.config, instant=context.instant)
        return BulkWrite(
            table.storage, self.records, replace(self.config.writer, markers=markers), table.config, generator, context.instant
        )


class TaggedBatch(Protocol):
    """The rows of a write with the file group of each, and their counts."""

    @property
    def tagging(self) -> TagOptions:
        """How the records were found."""
        ...

    @property
    def profile(self) -> Profile:
        """How many rows go where."""
        ...

    @property
    def late(self) -> int:
        """How many rows were left out, because what is stored in another partition is later."""
        ...

    @property
    def partitions(self) -> tuple[str, ...] | None:
        """The partition paths to replace, for operations that replace; None leaves it to the rows."""
        ...

    @property
    def is_stream(self) -> bool:
        """True when rows are written as they come, to new file groups: nothing was counted, and nothing is planned."""
        ...

    def sample(self) -> Iterable[TaggedRows]:
        """Return some of the rows, or all, to estimate the size of a record."""
        ...

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        """Write the files of a plan, each after its marker. When it returns or raises, no task is running any more."""
        ...


class Tagger(Protocol):
    """The rows of one write, and the engine that they are in."""

    @property
    def name(self) -> str:
        """How results and commits call the engine."""
        ...

    @property
    def reason(self) -> str:
        """Why this engine."""
        ...

    @property
    def engine(self) -> Engine:
        """Runs what an index does in this process."""
        ...

    @property
    def service_engine(self) -> Engine | None:
        """Runs the table services before and after the write; None for threads of this process."""
        ...

    @property
    def driver_host(self) -> str | None:
        """By which address the tasks that write reach this process; None where they run in it."""
        ...

    @property
    def columns(self) -> pa.Schema | None:
        """The columns of the rows, meta columns included; None for a write without rows."""
        ...

    def tag(self, stage: WriteStage) -> AbstractContextManager[TaggedBatch]:
        """Find the file group of each row, and keep the rows until the block ends.

        Raises:
            KeyFieldError: the rows lack a column that says where they belong, or a value of one is not allowed.
            OptionError: the options contradict how the table is laid out.
            ConflictError: located rows were read from files that are not the newest any more.
        """
        ...
