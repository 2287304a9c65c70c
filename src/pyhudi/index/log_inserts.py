"""Records that began in a log file: those of file groups without base file, and those that some writers append to a group as new.

Rules: `HoodieIndex.canIndexLogFiles`. Indexes that say the file group of a key before it is stored (BUCKET, Flink's state, INMEMORY) let
new records into logs; those that read base files never do. Which of them wrote a log is recorded in its commit: pyhudi's say so, and logs
of anybody else are looked into. So are logs that were written while the base file was being compacted: they may bring back a record that
the file before held, and that the compaction left out since a log before them had deleted it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.keys.key_probe import find_keys
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import find_commit_metadata


class LogInsertDetector:
    """Tells whether logs may begin records, by the commits that wrote them; each commit is read once."""

    def __init__(self, view: FileSystemView) -> None:
        self._view = view
        self._known: dict[str, bool] = {}

    def may_begin_records(self, file_slice: FileSlice) -> bool:
        """Tell whether a slice may hold keys that its base file does not."""
        if not file_slice.logs or file_slice.base is None:
            return bool(file_slice.logs)
        timeline = self._view.timeline
        if timeline.layout == 1:
            # Logs are named by their slice: any later commit may have written to them, and none says when a compaction was done.
            later = (instant.requested for instant in timeline.data_instants() if instant.requested > file_slice.base_instant)
            return self._is_compacted(file_slice.base_instant) or any(map(self._lets_new_records_in, later))
        done = timeline.completion_time(file_slice.base_instant)
        return done is None or any(log.name.instant < done or self._lets_new_records_in(log.name.instant) for log in file_slice.logs)

    def _is_compacted(self, requested: str) -> bool:
        view = self._view
        metadata = find_commit_metadata(view.storage, view.config, view.timeline, requested)
        return metadata is None or metadata.operation == Operation.COMPACT

    def _lets_new_records_in(self, requested: str) -> bool:
        if requested not in self._known:
            view = self._view
            metadata = find_commit_metadata(view.storage, view.config, view.timeline, requested)
            self._known[requested] = metadata is None or metadata.may_begin_records_in_logs
        return self._known[requested]


def logs_of(file_slice: FileSlice, view: FileSystemView) -> SliceTask:
    """Return the task of reading the keys of a slice's logs alone."""
    logs = FileSlice(file_slice.group, file_slice.base_instant, None, file_slice.logs)
    checked = with_checksums(view.storage, view.config, view.timeline, logs)
    return SliceTask(checked, view.timeline.visibility, view.config.layout, (RECORD_KEY,))


def keys_only_in_logs(storage: Storage, context: RecordContext, view: FileSystemView, file_slice: FileSlice) -> pa.StringArray:
    """Return the keys of the records that are in the logs of a slice and that its base file does not hold."""
    keys = keys_in_logs(storage, context, logs_of(file_slice, view))
    return (
        keys
        if file_slice.base is None
        else keys.filter(find_keys(storage, file_slice.base, keys, virtual_key=context.virtual_key).is_null())
    )


def keys_in_logs(storage: Storage, context: RecordContext, task: SliceTask, keys: pa.StringArray | None = None) -> pa.StringArray:
    """Return the keys of the records that are in the logs of a task; `keys` limits them to these.

    Raises:
        CorruptTableError: a log is damaged or missing.
    """
    key_filter = None if keys is None else pc.field(RECORD_KEY).isin(keys)
    batches = iter_merged(storage, context, task, key_filter)
    return pa.chunked_array([batch.column(RECORD_KEY) for batch in batches], pa.string()).combine_chunks()
