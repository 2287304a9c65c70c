"""The file slices of clustering plans, which name files in full."""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringSlice
from pyhudi.spec.actions.compaction import CompactionOperation
from pyhudi.spec.files.file_group import FileGroupId, FileSlice


def planned_files(group: ClusteringGroup) -> Mapping[FileGroupId, frozenset[str]]:
    """Return the names of the files of each slice of a group.

    Raises:
        CorruptTableError: a slice names no file group, or a partition outside the table, or two slices are of one file group.
    """
    files: dict[FileGroupId, frozenset[str]] = {}
    for file_slice in group.slices or ():
        # The same checks of names and paths as for the slices of a compaction.
        id_ = CompactionOperation(None, file_slice.file_id, file_slice.partition_path).group
        if id_ in files:
            raise CorruptTableError(f"a group holds {id_} twice")
        named = (file_slice.data_file or "", *(file_slice.delta_files or ()))
        files[id_] = frozenset(name.rpartition("/")[2] for name in named if name)
    return files


def render_slice(file_slice: FileSlice, uri: str) -> ClusteringSlice:
    """Return a slice as plans hold it; `uri` is the table's."""
    return ClusteringSlice(
        file_id=file_slice.group.file_id,
        partition_path=file_slice.group.partition_path,
        data_file="" if file_slice.base is None else f"{uri}/{file_slice.base.path}",
        delta_files=tuple(f"{uri}/{log.path}" for log in file_slice.logs),
        bootstrap_file="",
    )
