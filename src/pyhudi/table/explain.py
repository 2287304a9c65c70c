"""What an upsert would do, said without writing: which index it would ask and why, and which files it would write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.index.key_encoding import with_key_encoding
from pyhudi.kernels.tasks.write_task import WriteTask
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_writable
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.open_table import OpenTable
from pyhudi.table.write_table import state_before
from pyhudi.timeline.clock import InstantClock
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.write.input.incoming_data import to_table
from pyhudi.write.local_write import LocalWrite, PlanningContext, WriteRequest, plan_local
from pyhudi.write.options.write_config import choose
from pyhudi.write.plan.write_plan import TaskAssignment

_FILES = pa.schema({"partition_path": pa.string(), "file_id": pa.string(), "kind": pa.string(), "found": pa.int64(), "new": pa.int64()})


@dataclass(frozen=True, slots=True)
class UpsertExplanation:
    """What an upsert would do.

    `index` is the kind of index that it would ask, `reason` why that one. `found` rows go to file groups that are there, `new` ones begin
    some or join small ones, `ignored` rows come later than what is stored in another partition. `files` has a row for each file group
    that would be written; its `kind` is new, rewritten or appended.
    """

    index: str
    reason: str
    found: int
    new: int
    ignored: int
    files: pa.Table

    def __str__(self) -> str:
        return (
            f"upsert asks the index {self.index}: {self.reason}\n"
            f"{self.found} rows go to file groups that are there, {self.new} are new; {self.files.num_rows} file groups are written"
        )


def explain_upsert(table: OpenTable, data: object, options: Mapping[str, str]) -> UpsertExplanation:
    """Return what an upsert of the data would do; nothing is locked or written.

    Raises:
        UsageError: the data or the options do not fit the table.
    """
    storage = table.storage
    config = with_key_encoding(storage, TableConfig(load_properties(storage)))
    check_writable(config)
    timeline = load_full_timeline(storage, config)
    times = InstantClock(table.clock, config.timeline_zone, timeline.greatest_time(), storage.uri)
    stage = PlanningContext(
        LockedTable(storage, config, timeline, frozenset(), table.clock, times, table.ids),
        open_view(storage, config, timeline),
        times.next(),
    )
    write_config = choose(resolve(options), config, Operation.UPSERT)
    stored, latest = state_before(stage.table)
    request = WriteRequest(Operation.UPSERT, to_table(data, lambda: table.schema))
    return _explain_plan(plan_local(stage, request, write_config, stored, latest, LocalEngine()))


def _explain_plan(work: LocalWrite) -> UpsertExplanation:
    buckets = work.plan.buckets
    new = sum(part.new for part in work.profile.partitions.values())
    return UpsertExplanation(
        index=work.tagging.index.name,
        reason=work.tagging.reason,
        found=work.profile.records - new,
        new=new,
        ignored=work.late,
        files=pa.Table.from_pylist([_row(bucket) for bucket in buckets], schema=_FILES),
    )


def _row(bucket: TaskAssignment) -> dict[str, object]:
    task = bucket.task
    begins = isinstance(task, WriteTask) and task.base is None
    updates = 0 if bucket.opened is not None else bucket.updates
    return {
        "partition_path": task.partition_path,
        "file_id": task.file_id,
        "kind": "new" if begins else "rewritten" if isinstance(task, WriteTask) else "appended",
        "found": updates,
        "new": bucket.inserts + bucket.updates - updates,
    }
