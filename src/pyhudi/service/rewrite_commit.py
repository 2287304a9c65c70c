"""Makes visible what a table service rewrote: the last part of a run of compaction or clustering, under the table's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyhudi.errors import ConflictError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.spec.actions.commit import CommitMetadata, Operation, stats_by_partition
from pyhudi.spec.extra_metadata import ENGINE_KEY, IDENTITY_KEY, SCHEMA_KEY, WRITER_KEY
from pyhudi.spec.instant import Instant, State
from pyhudi.spec.table_identity import identity_note
from pyhudi.txn.commit_sequence import checksums_of_logs, complete_commit, reconcile_files
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import prepare_metadata_table
from pyhudi.txn.release import VERSION
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata, rolled_over
from pyhudi.txn.schema_record import record_version


def check_inflight(table: LockedTable, instant: Instant) -> None:
    """See that an action is still this run's, on a table whose timeline was read again.

    Raises:
        ConflictError: somebody rolled it back, or completed it.
    """
    if not any(one.action is instant.action and one.state is State.INFLIGHT for one in table.timeline.find(instant.requested)):
        raise ConflictError(
            f"{instant.action} {instant.requested} of table {table.storage.uri} is not inflight any more: somebody else rolled it back or "
            "completed it. Nothing of this run is visible."
        )


def paths_of(results: Iterable[TaskResult]) -> frozenset[str]:
    """Return the paths of the files that tasks wrote."""
    return frozenset(path for result in results for path in result.stat.files)


def commit_rewrite(
    table: LockedTable,
    instant: Instant,
    results: Sequence[TaskResult],
    context: RecordContext,
    engine: str,
    *,
    operation: Operation,
    schema_json: str | None = None,
    compacted: bool = False,
    replaced: Mapping[str, tuple[str, ...]] | None = None,
    rolling: RollingMetadata = NOT_ROLLING,
    before_completion: Callable[[], None] = lambda: None,
    after_completion: Callable[[], None] = lambda: None,
) -> Instant:
    """Complete an inflight action of a service, and return the completed instant.

    Args:
        table: the table, with its timeline read again.
        instant: the inflight instant.
        results: what the tasks did; files of theirs that are not named here are deleted.
        context: of the rows that the tasks wrote, with the schema that the table had at the start.
        engine: what ran the tasks.
        operation: what the commit says it is.
        schema_json: the Avro schema that the table must still have; None where tasks wrote rows of a schema that may have grown since.
        compacted: whether the commit says that it compacted.
        replaced: file ids by partition path that the commit replaces.
        rolling: which entries of its metadata the commit takes over from the commits before.
        before_completion: see `complete_commit`.
        after_completion: see `complete_commit`.

    Raises:
        ConflictError: the schema changed while the tasks ran; nothing is visible.
        StorageError: a file is not there in full, or the storage failed; nothing is visible.
        UnknownOutcomeError: the storage gave no answer to the last step.
    """
    reconcile_files(table.storage, instant.requested, [result.stat for result in results])
    stored = table_schema(table.storage, table.config, table.timeline)
    before, history = history_of(context.schema), history_of(stored.columns)
    is_other = history is not None and (before is None or before.current != history.current)
    if is_other or (schema_json is not None and stored.avro_json != schema_json):
        raise ConflictError(
            f"the schema of table {table.storage.uri} was changed while {instant.action} {instant.requested} ran. Nothing of this"
            " run is visible; run it again."
        )
    extra_metadata = {
        WRITER_KEY: VERSION,
        ENGINE_KEY: engine,
        SCHEMA_KEY: stored.avro_json,
        IDENTITY_KEY: identity_note(table.config),
        **checksums_of_logs(results),
        **record_version(table, instant.requested, stored.columns),
    }
    metadata = CommitMetadata(
        stats=stats_by_partition(result.stat for result in results),
        # As of now: a writer may have added a column while the tasks ran, and readers take the schema of what completed last.
        extra_metadata={**rolled_over(table, rolling, extra_metadata), **extra_metadata},
        operation=operation,
        compacted=compacted,
        replaced=replaced,
    )
    table, in_step = prepare_metadata_table(table, metadata.schema_json, history=history)
    completed = complete_commit(
        table, instant, metadata, in_step, history=history, before_completion=before_completion, after_completion=after_completion
    )
    return completed.instant
