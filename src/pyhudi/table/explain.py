"""What an upsert would do, said without writing: which index it would ask and why, and which files it would write."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.kernels.tasks.write_task import WriteTask
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.table.open_table import OpenTable
from pyhudi.table.write_pipeline import state_before
from pyhudi.txn.locked_table import table_state
from pyhudi.write.input.incoming_data import to_table
from pyhudi.write.options.validate_options import check_agreement
from pyhudi.write.options.write_config import choose
from pyhudi.write.pipeline.local_tagger import LocalTagger
from pyhudi.write.pipeline.plan_rows import PlannedWrite, plan_rows
from pyhudi.write.pipeline.write_stage import PlanningContext, WriteRequest
from pyhudi.write.plan.write_plan import TaskAssignment

_FILES = pa.schema({"partition_path": pa.string(), "file_id": pa.string(), "kind": pa.string(), "found": pa.int64(), "new": pa.int64()})


@dataclass(frozen=True, slots=True)
class UpsertExplanation:
    """What an upsert would do.

    `index` is the kind of index that it would ask, `reason` why that one. `existing` rows go to existing file groups, `new` ones begin
    some or join small ones, `late_dropped` rows come later than what is stored in another partition. `files` has a row for each file group
    that would be written; its `kind` is new, rewritten or appended.
    """

    index: str
    reason: str
    existing: int
    new: int
    late_dropped: int
    files: pa.Table

    @property
    def found(self) -> int:
        """Former name of `existing`, for one release."""
        warnings.warn("UpsertExplanation.found is now UpsertExplanation.existing", DeprecationWarning, stacklevel=2)
        return self.existing

    @property
    def ignored(self) -> int:
        """Former name of `late_dropped`, for one release."""
        warnings.warn("UpsertExplanation.ignored is now UpsertExplanation.late_dropped", DeprecationWarning, stacklevel=2)
        return self.late_dropped

    def __str__(self) -> str:
        return (
            f"upsert asks the index {self.index}: {self.reason}\n"
            f"{self.existing} rows go to file groups that are there, {self.new} are new; {self.files.num_rows} file groups are written"
        )


def explain_upsert(table: OpenTable, data: object, options: Mapping[str, str]) -> UpsertExplanation:
    """Return what an upsert of the data would do; nothing is locked or written.

    Raises:
        UsageError: the data or the options do not fit the table.
    """
    config = choose(resolve(options), table.config, Operation.UPSERT)
    state = table_state(table.storage, table.clock, table.ids)
    check_agreement(config.options, state.config)
    stored, latest = state_before(state)
    context = PlanningContext(state, open_view(state.storage, state.config, state.timeline), state.times.next())
    tagger = LocalTagger(to_table(data, lambda: table.schema))
    with plan_rows(context, stored, latest, WriteRequest(Operation.UPSERT), config, tagger) as work:
        return _explain_plan(work)


def _explain_plan(work: PlannedWrite) -> UpsertExplanation:
    new = sum(part.new for part in work.batch.profile.partitions.values())
    return UpsertExplanation(
        index=work.batch.tagging.index.name,
        reason=work.batch.tagging.resolved.reason,
        existing=work.batch.profile.records - new,
        new=new,
        late_dropped=work.batch.late,
        files=pa.Table.from_pylist([_row(assignment) for assignment in work.plan.assignments], schema=_FILES),
    )


def _row(assignment: TaskAssignment) -> dict[str, object]:
    task = assignment.task
    begins = task.base is None if isinstance(task, WriteTask) else task.begins_group
    updates = 0 if assignment.new_buckets is not None else assignment.updates
    return {
        "partition_path": task.partition_path,
        "file_id": task.file_id,
        "kind": "new" if begins else "rewritten" if isinstance(task, WriteTask) else "appended",
        "found": updates,
        "new": assignment.inserts + assignment.updates - updates,
    }
