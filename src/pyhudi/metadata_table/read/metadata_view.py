"""A table's files as of a timeline, taken from its metadata table instead of listings.

Rules: `FileSystemViewManager`, `HoodieMetadataFileSystemView`; docs/format/metadata-table.md#rules-for-readers. Where the metadata table
cannot be trusted the view lists, as its parent does, and a warning says why.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TypeVar

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.base_only import plain_files, plain_slices
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_groups import PartitionFiles
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.fsview.latest_files import newest_files
from pyhudi.fsview.slice_list import SliceList
from pyhudi.metadata_table.format.metadata_partitions import FILES
from pyhudi.metadata_table.read.lost_completion import check_no_completion_lost
from pyhudi.metadata_table.read.metadata_table import MetadataTable, listing_of
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


def open_view(storage: Storage, config: TableConfig, timeline: Timeline, *, use_metadata_table: bool = True) -> FileSystemView:
    """Return the view of a table: by its metadata table when it has one that knows all of the timeline, else by listing.

    While a restore is pending its metadata table may be ahead of it or behind.

    Raises:
        CorruptTableError: the file of a completed write is missing on the timeline (`check_no_completion_lost`).

    Example:
        >>> from pyhudi.timeline.load_timeline import load_timeline
        >>> view = open_view(table.storage, table.config, load_timeline(table.storage, table.config))
        >>> [file_slice.base_instant for file_slice in view.latest_slices("oslo")]
        ['20260102030405000']
    """
    if not use_metadata_table or FILES not in config.metadata_partitions or timeline.restoring:
        return CheckedView(storage, config, timeline)
    try:
        table = MetadataTable.open(storage, config, timeline)
    except (CorruptTableError, UnsupportedError) as error:
        _warn(storage, str(error))
        return CheckedView(storage, config, timeline)
    check_no_completion_lost(storage, config, timeline, table.timeline)
    if missing := table.missing_instants:
        _warn(storage, f"it does not know of {len(missing)} writes, the first is {missing[0]}")
        return CheckedView(storage, config, timeline)
    return MetadataView(storage, config, timeline, table)


class MetadataView(CheckedView):
    """A view that asks a metadata table. One look-up finds the files of all partitions that are asked for together."""

    def __init__(self, storage: Storage, config: TableConfig, timeline: Timeline, table: MetadataTable) -> None:
        """Show the table as `timeline` makes it visible; `table` must know all of the timeline."""
        super().__init__(storage, config, timeline)
        self._table: MetadataTable | None = table
        self._candidates: dict[str, PartitionFiles] = {}
        #: The files of partitions that were asked for together, until they are looked at: sizes by name.
        self._sizes: dict[str, dict[str, int]] = {}
        #: Why the metadata table is not asked any more; empty while it is.
        self.distrusted = ""

    @property
    def table(self) -> MetadataTable | None:
        """The metadata table that is asked; None from when it turns out to be damaged."""
        return self._table

    def partitions_below(self, folder: str) -> tuple[str, ...]:
        """Return the partitions at and below a folder, sorted."""
        if self._table is None:
            return super().partitions_below(folder)
        return tuple(path for path in self.partition_paths() if path == folder or path.startswith(f"{folder}/") or not folder)

    def look_up(self, partition_paths: Collection[str]) -> None:
        """Find the files of these partitions with one question."""
        unknown = [path for path in partition_paths if path not in self._sizes and path not in self._by_id]
        if len(unknown) > 1:
            with collector_paused():
                self._sizes |= self._query(lambda table: table.sizes_of(unknown)) or {}

    def slice_list(self, partition_path: str) -> SliceList:
        """Return the newest slices of a partition; see the parent."""
        if partition_path not in self._latest and (sizes := self._sizes.get(partition_path)) is not None:
            base_only = plain_slices(partition_path, sizes, self.timeline, self.replaced)
            if base_only is not None:
                self._latest[partition_path] = base_only
        return super().slice_list(partition_path)

    def _list_committed(self, partition_path: str) -> PartitionFiles:
        if partition_path not in self._by_id and partition_path not in self._listings:
            sizes = self._sizes_of(partition_path)
            with collector_paused():
                files = None if sizes is None else plain_files(sizes, self.timeline)
            if files is not None:
                self._tell_attempts_apart(partition_path, files)
                self._by_id[partition_path] = files
        return super()._list_committed(partition_path)

    def _list(self, partition_path: str) -> list[FileStatus]:
        sizes = self._sizes_of(partition_path)
        return super()._list(partition_path) if sizes is None else listing_of(partition_path, sizes)

    def _sizes_of(self, partition_path: str) -> dict[str, int] | None:
        known = self._sizes.get(partition_path)
        return self._query(lambda table: table.sizes(partition_path)) if known is None else known

    def _newest(self, partition_path: str) -> PartitionFiles:
        if partition_path in self._by_id:
            return super()._newest(partition_path)
        if partition_path not in self._candidates:
            sizes = self._sizes_of(partition_path)
            if sizes is None:
                return super()._newest(partition_path)
            newest = newest_files(self.storage.uri, partition_path, sizes, self.timeline)
            self._candidates[partition_path] = self._visible(partition_path, newest)
        return self._candidates[partition_path]

    def slices_of(self, partition_path: str, file_ids: Collection[str]) -> SliceList:
        """Return the newest slices of some file groups, as far as they are there; the files of others are not looked at."""
        if partition_path in self._latest or partition_path in self._candidates or partition_path in self._by_id:
            return super().slices_of(partition_path, file_ids)
        sizes = self._sizes_of(partition_path)
        if sizes is None:
            return super().slices_of(partition_path, file_ids)
        newest = newest_files(self.storage.uri, partition_path, sizes, self.timeline, file_ids)
        return self._latest_of(partition_path, self._visible(partition_path, newest))

    def _query(self, question: Callable[[MetadataTable], _Answer]) -> _Answer | None:
        """Return what the metadata table answers, None when it turns out to be damaged."""
        if self._table is None:
            return None
        try:
            return question(self._table)
        except (CorruptTableError, UnsupportedError) as error:
            self._distrust(error)
            return None

    def _check(self, partition_path: str, files: PartitionFiles, *, logs: bool = True) -> None:
        # What the metadata table lists, commits have told it; what it lists and storage lacks is noticed when it is opened.
        if self._table is None:
            super()._check(partition_path, files, logs=logs)

    def _distrust(self, error: Exception) -> None:
        _warn(self.storage, str(error))
        self._table, self._sizes = None, {}
        self.distrusted = str(error)

    def _find_partition_paths(self) -> tuple[str, ...]:
        if self._table is not None:
            try:
                paths = self._table.partition_paths() if self.config.partition_fields else ("",)
                with collector_paused():
                    self._sizes = self._table.sizes_of(paths)
            except (CorruptTableError, UnsupportedError) as error:
                self._distrust(error)
            else:
                return paths
        return super()._find_partition_paths()

    def _find_partition_folders(self) -> tuple[str, ...]:
        paths, depth = self.partition_paths(), len(self.config.partition_fields)
        if self._table is None or not depth:
            return super()._find_partition_folders()
        return tuple(sorted({"/".join(path.split("/")[:depth]) for path in paths}))


def _warn(storage: Storage, reason: str) -> None:
    _log.warning("the metadata table of %s is not used, its folders are listed instead: %s", storage.uri, reason)
