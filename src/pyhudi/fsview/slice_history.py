"""The file slices of single file groups at many timestamps: what change data asks for, of replaced groups too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.timeline import Timeline


class SlicesOverTime:
    """Finds the slice of a file group as of a timeline; each partition is listed once."""

    def __init__(self, storage: Storage, config: TableConfig) -> None:
        """Look at the table on `storage`; nothing is listed yet."""
        self._storage = storage
        self._config = config
        self._listings: dict[str, Mapping[str, list[FileStatus]]] = {}

    def at(self, group: FileGroupId, timeline: Timeline) -> FileSlice | None:
        """Return the newest slice of a file group, whether it was replaced or not; None when it has none yet.

        Raises:
            CorruptTableError: the slice's base file is missing.
        """
        files = self.files(group)
        if not files:
            return None
        view = _OneGroup(self._storage, self._config, timeline, files)
        return next(iter(view.latest_slices(group.partition_path)), None)

    def files(self, group: FileGroupId) -> list[FileStatus]:
        """Return all files of a file group that are there now."""
        path = group.partition_path
        if path not in self._listings:
            by_id: dict[str, list[FileStatus]] = defaultdict(list)
            for status in self._storage.list(path):
                name = parse_base_file_name(status.name) or parse_log_file_name(status.name)
                if name is not None and not status.is_dir:
                    by_id[name.file_id].append(status)
            self._listings[path] = by_id
        return self._listings[path].get(group.file_id, [])


class _OneGroup(FileSystemView):
    """A view that knows the files of one group, which counts as it was before it was replaced."""

    def __init__(self, storage: Storage, config: TableConfig, timeline: Timeline, files: list[FileStatus]) -> None:
        super().__init__(storage, config, timeline)
        self._files = files

    def _list(self, partition_path: str) -> list[FileStatus]:  # noqa: ARG002 - of the one partition
        return self._files

    @property
    def replaced(self) -> dict[FileGroupId, str]:
        """None of the groups."""
        return {}
