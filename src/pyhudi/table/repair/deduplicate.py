"""Duplicate rows of a partition: how many there are, what the files would hold without them, and their removal.

Rules: `RepairDeduplicateProcedure`, `DedupeSparkJob`. Apache Hudi overwrites the files of the partition, one after the other; here one
commit replaces those that hold duplicates, and earlier states stay readable until they are cleaned.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import HudiError, OptionError, UnknownOutcomeError, UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.retained_rows import DuplicateRule
from pyhudi.locks.exclusive_service import exclusive_service
from pyhudi.service.clustering.clustering_settings import clustering_settings
from pyhudi.service.deduplication.deduplication_service import Deduplication, context_of
from pyhudi.service.deduplication.duplicate_slices import PartitionDuplicates, find_duplicates, slice_task
from pyhudi.service.service_engine import Progress, ServiceRunner, service_runner
from pyhudi.service.service_executor import cancel, run_one, schedule_one
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.repair.folder_outside import folder_outside
from pyhudi.table.repair.repair_result import DeduplicationResult
from pyhudi.table.services_by_options import service_options
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import TableState, table_state


@dataclass(frozen=True, slots=True)
class DeduplicationArguments:
    """What a caller asks for; as in `RepairServices.deduplicate`."""

    partition_path: str
    rule: str
    output: str | None
    dry_run: bool
    options: Mapping[str, str]
    engine: Engine | None = None
    progress: Progress | None = None


def deduplicate(storage: Storage, clock: Clock, ids: Ids, arguments: DeduplicationArguments) -> DeduplicationResult:
    """Remove duplicates; see `RepairServices.deduplicate`."""
    options = service_options(storage, arguments.options)
    rule = _rule(arguments.rule)
    runner = service_runner(storage, clock, ids, options, arguments.engine, arguments.progress)
    path = arguments.partition_path.strip("/")
    state = table_state(storage, clock, ids)
    if path not in FileSystemView(storage, state.config, state.timeline).partition_paths():
        raise UsageError(f"table {storage.uri} has no partition '{path}'; table.inspect.partitions() lists those there are")
    output = None if arguments.output is None else folder_outside(storage, arguments.output, "repaired files")
    context = context_of(state)
    duplicates = find_duplicates(state, context, path, rule, runner.merge_bytes)
    if output is not None:
        _write_copies(state, context, duplicates, output, runner.merge_bytes)
    outcome, instant = "planned" if duplicates.affected else "nothing to do", None
    if duplicates.affected and not arguments.dry_run:
        service = Deduplication(clustering_settings(options), path, rule, runner.merge_bytes)
        instant = _run(service, runner)
        outcome = "nothing to do" if instant is None else "completed"
    files = tuple(str(one.base.path) for one in duplicates.affected if one.base is not None)
    return DeduplicationResult(outcome, instant, path, duplicates.keys, duplicates.surplus_rows, files, arguments.output)


def _run(service: Deduplication, runner: ServiceRunner) -> str | None:
    """Plan and run; a plan whose run fails is taken off the timeline."""
    with exclusive_service(runner.storage, "clustering", "clustering") as exclusion:
        planned = schedule_one(service, runner)
        if not planned or planned[0].instant is None:
            return None
        requested = planned[0].instant
        try:
            run_one(service, runner, requested, exclusion)
        except UnknownOutcomeError:
            raise
        except BaseException:
            with contextlib.suppress(HudiError, OSError):
                cancel(service, runner, requested)
            raise
        return requested


def _write_copies(state: TableState, context: RecordContext, duplicates: PartitionDuplicates, output: Storage, limit_bytes: int) -> None:
    """Write the rows of each slice that stay to a Parquet file of the base file's name."""
    for file_slice, retained in zip(duplicates.slices, duplicates.retained, strict=True):
        name = f"{file_slice.group.file_id}.parquet" if file_slice.base is None else posixpath.basename(str(file_slice.base.path))
        begin = 0
        writer: pq.ParquetWriter | None = None
        with output.open_output(name) as sink:
            for batch in iter_merged(state.storage, context, slice_task(state, file_slice), limit_bytes=limit_bytes):
                writer = writer or pq.ParquetWriter(sink, batch.schema)
                writer.write_batch(batch.filter(pa.array(retained[begin : begin + batch.num_rows])))
                begin += batch.num_rows
            if writer is not None:
                writer.close()


def _rule(name: str) -> DuplicateRule:
    try:
        return DuplicateRule(name.lower())
    except ValueError:
        known = ", ".join(rule.value for rule in DuplicateRule)
        raise OptionError(f"the type of deduplication is '{name}'; it can be {known}") from None
