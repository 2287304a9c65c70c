"""A table's files as of a timeline, found by listing: each partition is listed when it is first asked for."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Self

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_groups import PartitionFiles, build_groups, committed_files, latest_base_files, latest_slices
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.fsview.partition_listing import folders_at_depth, walk_partitions
from pyhudi.fsview.pending_plans import PendingCompaction, pending_compactions
from pyhudi.fsview.replaced_groups import replaced_groups
from pyhudi.fsview.slice_list import SliceList
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import BaseFile, FileGroup, FileGroupId, FileSlice, join_path
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.instant_details import find_commit_metadata
from pyhudi.timeline.timeline import Timeline


class FileSystemView:
    """Partitions, file groups and slices of one table at one timeline. What was read once is kept.

    Example:
        >>> from pyhudi.timeline.load_timeline import load_timeline
        >>> view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
        >>> [file.partition_path for path in view.partition_paths() for file in view.latest_base_files(path)]
        ['oslo', 'rome']
    """

    def __init__(self, storage: Storage, config: TableConfig, timeline: Timeline) -> None:
        """Show the table on `storage` as `timeline` makes it visible; nothing is read yet."""
        self.storage = storage
        self.config = config
        self.timeline = timeline
        self._listings: dict[str, list[FileStatus]] = {}
        self._by_id: dict[str, PartitionFiles] = {}
        self._groups: dict[str, tuple[FileGroup, ...]] = {}
        self._latest: dict[str, SliceList] = {}
        self._slices: dict[str, tuple[FileSlice, ...]] = {}
        self._below: dict[str, tuple[str, ...]] = {}
        self._stats: dict[str, tuple[WriteStat, ...] | None] = {}

    def with_config(self, config: TableConfig) -> Self:
        """Return the same view with other properties of the table, which do not concern its files; what was read stays known."""
        copied = copy.copy(self)
        copied.config = config
        return copied

    def partition_paths(self) -> tuple[str, ...]:
        """Return the paths of all partitions, sorted; `("",)` for a table without partition fields.

        Folders count as partitions as soon as a writer made them, also when nothing in them is committed yet.
        """
        return self._partition_paths

    def partition_folders(self) -> tuple[str, ...]:
        """Return the folders that can be partitions by their depth, sorted; only folders above them are listed.

        Each is a partition, or holds partitions (a value with slashes makes deeper ones), or neither, which
        `partitions_below` tells. Together they hold all partitions.
        """
        return self._partition_folders

    def partitions_below(self, folder: str) -> tuple[str, ...]:
        """Return the partitions at and below a folder, sorted; the folder is listed, with all below it."""
        if not self.config.partition_fields:
            return ("",)
        if folder not in self._below:
            listings = dict(walk_partitions(self.storage, folder))
            self._listings |= {path: listing for path, listing in listings.items() if path not in self._by_id}
            self._below[folder] = tuple(sorted(listings))
        return self._below[folder]

    def listing(self, partition_path: str) -> list[FileStatus]:
        """Return all files of a partition's folder, committed or not, as the walk that found the partition listed it."""
        if partition_path not in self._listings:
            self._listings[partition_path] = self._list(partition_path)
        return self._listings[partition_path]

    def look_up(self, partition_paths: Collection[str]) -> None:
        """Say that the files of several partitions are asked for next, each of which would be a question of its own; here they are."""

    def groups(self, partition_path: str) -> tuple[FileGroup, ...]:
        """Return the file groups of a partition with their committed slices; empty when there is no such partition."""
        if partition_path not in self._groups:
            files = self._list_committed(partition_path)
            with collector_paused():
                self._groups[partition_path] = build_groups(partition_path, files, self.timeline, self.replaced)
        return self._groups[partition_path]

    def partition_files(self, partition_path: str) -> PartitionFiles:
        """Return all committed files of a partition, those of replaced file groups too; empty when there is no such partition."""
        return self._list_committed(partition_path)

    def latest_slices(self, partition_path: str) -> tuple[FileSlice, ...]:
        """Return the newest slice of each file group, as a snapshot reads it.

        Under a pending compaction that is the slice before it with all logs, those written since too.

        Raises:
            CorruptTableError: a slice's base file is missing.
        """
        if partition_path not in self._slices:
            self._slices[partition_path] = tuple(self.slice_list(partition_path))
        return self._slices[partition_path]

    def slice_list(self, partition_path: str) -> SliceList:
        """Return the same slices, for who asks many partitions and looks at few of them; errors as in `latest_slices`."""
        if partition_path not in self._latest:
            self._latest[partition_path] = self._latest_of(partition_path, self._newest(partition_path))
        return self._latest[partition_path]

    def slices_of(self, partition_path: str, file_ids: Collection[str]) -> SliceList:
        """Return those of some file groups, as far as they are there; errors as in `latest_slices`."""
        slices = self.slice_list(partition_path)
        return slices.take(index for index, file_id in enumerate(slices.file_ids) if file_id in file_ids)

    def latest_base_files(self, partition_path: str) -> tuple[BaseFile, ...]:
        """Return the newest base file of each file group that has one: the read-optimised view."""
        return latest_base_files(partition_path, self._newest(partition_path), self.replaced)

    @cached_property
    def pending_compaction(self) -> Mapping[FileGroupId, PendingCompaction]:
        """The file groups that a pending compaction is to rewrite.

        Raises:
            CorruptTableError: a pending compaction has no plan.
        """
        return pending_compactions(self.storage, self.config, self.timeline)

    @cached_property
    def _partition_paths(self) -> tuple[str, ...]:
        return self._find_partition_paths()

    @cached_property
    def _partition_folders(self) -> tuple[str, ...]:
        return self._find_partition_folders()

    # What follows is asked of a metadata table where there is one, see `pyhudi.metadata_table.read.metadata_view`.

    def _list(self, partition_path: str) -> list[FileStatus]:
        return self.storage.list(partition_path)

    def _find_partition_paths(self) -> tuple[str, ...]:
        if not self.config.partition_fields:
            return ("",)
        self._listings = dict(walk_partitions(self.storage))
        return tuple(sorted(self._listings))

    def _find_partition_folders(self) -> tuple[str, ...]:
        depth = len(self.config.partition_fields)
        return tuple(sorted(folders_at_depth(self.storage, depth))) if depth else ("",)

    @cached_property
    def replaced(self) -> Mapping[FileGroupId, str]:
        """The file groups that are left out, with the requested time of the replacecommit."""
        return replaced_groups(self.storage, self.config, self.timeline)

    def _list_committed(self, partition_path: str) -> PartitionFiles:
        if partition_path not in self._by_id:
            listing = self._listings.pop(partition_path, None)
            if listing is None:
                listing = self._list(partition_path)
            self._by_id[partition_path] = self._visible(partition_path, listing)
        return self._by_id[partition_path]

    def _newest(self, partition_path: str) -> PartitionFiles:
        """Return committed files of a partition, among them all of the newest slices."""
        return self._list_committed(partition_path)

    def _visible(self, partition_path: str, listing: Iterable[FileStatus]) -> PartitionFiles:
        with collector_paused():
            files = committed_files(partition_path, listing, self.timeline)
        self._tell_attempts_apart(partition_path, files)
        return files

    def _tell_attempts_apart(self, partition_path: str, files: PartitionFiles) -> None:
        """Keep, of several attempts at one base file, the one that its commit names.

        A task that outlives its commit can leave another attempt behind; only the commit says which one is whole.
        """
        repeated = files.repeated_base_files()
        for requested in sorted({file[1] for _, file in repeated}):
            named = self._files_named_by_commit(requested)
            attempts = [(file_id, file, join_path(partition_path, file[0])) for file_id, file in repeated if file[1] == requested]
            if named is None:
                raise CorruptTableError(
                    f"table {self.storage.uri} holds several files for one file group and instant, and the commit "
                    f"{requested} that could tell them apart is archived: {', '.join(path for _, _, path in attempts)}"
                )
            for file_id, file, path in attempts:
                if path not in named:
                    files.base[file_id].remove(file)

    def _files_named_by_commit(self, requested: str) -> set[str] | None:
        stats = self._stats_of_commit(requested)
        return None if stats is None else {stat.path for stat in stats if stat.path is not None}

    def _latest_of(self, partition_path: str, files: PartitionFiles) -> SliceList:
        slices = latest_slices(partition_path, files, self.timeline, self.replaced)
        for file_slice in slices.made:
            if file_slice.base is None:
                self._check_never_had_a_base(file_slice, file_slice.base_instant)
            if self.config.layout == 1:
                for instant in {log.name.instant for log in file_slice.logs} - {file_slice.base_instant}:
                    self._check_never_had_a_base(file_slice, instant)
        return slices

    def _check_never_had_a_base(self, file_slice: FileSlice, instant: str) -> None:
        """Tell logs that name no base file from logs whose base file was lost: the commit that they name knows."""
        for stat in self._stats_of_commit(instant) or ():
            if stat.file_id == file_slice.group.file_id and stat.partition_path == file_slice.group.partition_path:
                name = stat.base_file or (stat.path or "").rpartition("/")[2]
                is_base = file_slice.base is not None and file_slice.base.path.rpartition("/")[2] == name
                if parse_base_file_name(name) is not None and not is_base:
                    raise CorruptTableError(
                        f"base file '{join_path(file_slice.group.partition_path, name)}' of table {self.storage.uri} is "
                        "missing, and log file "
                        f"'{file_slice.logs[0].path}' needs it: it was deleted by hand, or cleaned while it was read (then read again)"
                    )

    def _stats_of_commit(self, requested: str) -> tuple[WriteStat, ...] | None:
        """Return what a commit wrote; None when neither the timeline nor its archive knows it."""
        if requested not in self._stats:
            commit = find_commit_metadata(self.storage, self.config, self.timeline, requested)
            self._stats[requested] = None if commit is None else tuple(commit.all_stats())
        return self._stats[requested]
