"""Deduplication of a partition as a table service: a clustering whose tasks leave surplus rows out.

All slices that hold a key of several rows are rewritten together, so that indexes name the files where the rows are afterwards. A run that
is killed leaves a pending clustering, which any clustering completes, with the duplicates still in, or rolls back.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from pyhudi.errors import ConflictError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.retained_rows import DuplicateRule
from pyhudi.kernels.tasks.deduplicate_task import run_deduplicate_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.clustering.rewrite_plan import RewritePlan, parse_plan, render_plan
from pyhudi.service.clustering.rewrite_service import GroupRewriting, StartedRewrite
from pyhudi.service.compaction.pending_compactions import busy_groups
from pyhudi.service.deduplication.duplicate_slices import find_duplicates
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.txn.locked_table import LockedTable, TableState
from pyhudi.write.input.prepare_rows import TableSchema, record_context


@dataclass(frozen=True, slots=True)
class Deduplication(GroupRewriting):
    """Deduplication of one partition."""

    partition_path: str
    rule: DuplicateRule
    merge_bytes: int

    name: ClassVar[str] = "deduplication"
    #: Another run would be one of plain clustering.
    keeps_failed_plan: ClassVar[bool] = False

    def plan(self, table: LockedTable) -> RewritePlan | None:
        """Return the slices that hold duplicates; None when none does.

        Raises:
            ConflictError: a pending compaction or clustering holds one of them.
        """
        duplicates = find_duplicates(table, context_of(table), self.partition_path, self.rule, self.merge_bytes)
        if not duplicates.affected:
            return None
        busy = busy_groups(table)
        held = next((one.group for one in duplicates.affected if one.group in busy), None)
        if held is not None:
            raise ConflictError(
                f"a pending compaction or clustering of table {table.storage.uri} holds {held}, which has duplicates; run it or roll it"
                " back, and try again."
            )
        group = (list(duplicates.affected), len(duplicates.affected))
        size = self.settings.default_base_bytes
        return parse_plan(render_plan([group], (), self.settings.rewrite, table.storage.uri, size))

    def run_tasks(self, runner: ServiceRunner, work: StartedRewrite) -> list[TaskResult]:
        """Write the new files."""
        function = functools.partial(run_deduplicate_task, runner.storage, work.context, runner.writer, self.rule)
        return [result for results in runner.run(function, work.tasks) for result in results]


def context_of(table: TableState) -> RecordContext:
    """Return what the rows of a table look like now."""
    stored = table_schema(table.storage, table.config, table.timeline)
    return record_context(TableSchema(stored.columns, stored.avro_json), table.config)
