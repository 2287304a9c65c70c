"""File groups that a replacecommit (overwrite, partition delete, clustering) has put out of use.

Rules: `TableFileSystemView`, `partitionToReplaceFileIds`; docs/format/data-files.md#file-system-view. A replacecommit leaves the active
timeline only after its replaced files are deleted, so the active timeline tells all that matters.
"""

from __future__ import annotations

from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.timeline import Timeline


def replaced_groups(storage: Storage, config: TableConfig, timeline: Timeline) -> dict[FileGroupId, str]:
    """Return the replaced file groups with the requested time of the replacecommit; the latest one counts."""
    replaced: dict[FileGroupId, str] = {}
    for instant in timeline.data_instants():
        if instant.action is not Action.REPLACE_COMMIT:
            continue
        metadata = load_commit_metadata(storage, config, timeline, instant)
        for partition_path, file_ids in (metadata.replaced or {}).items():
            replaced.update(dict.fromkeys((FileGroupId(partition_path, id_) for id_ in file_ids), instant.requested))
    return replaced
