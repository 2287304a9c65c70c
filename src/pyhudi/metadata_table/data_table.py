"""What the metadata table must know of the table that it describes, while an action is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.view import FileSystemView
from pyhudi.metadata_table import keys
from pyhudi.metadata_table.file_stats import BoundTypes, file_stats
from pyhudi.metadata_table.partition import MetadataPartition
from pyhudi.metadata_table.record import ColumnStats
from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.file_group import join_path
from pyhudi.spec.file_names import parse_base_file_name, parse_log_file_name


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """What a snapshot of a partition reads: paths of base files, and whether any of them has log files on top."""

    base: tuple[str, ...]
    has_logs: bool


class DataTable:
    """The data table as it is before an action.

    Args:
        view: shows it.
        types: of the bounds of the columns that have statistics.
        known: the partition `column_stats`, to look statistics up in; None while there is none.
    """

    def __init__(self, view: FileSystemView, types: BoundTypes, known: MetadataPartition | None = None) -> None:
        self.view = view
        self.types = types
        self._known = known
        self._stats: dict[str, Mapping[str, ColumnStats] | None] = {}

    def stats_of(self, path: str) -> Mapping[str, ColumnStats] | None:
        """Return the statistics of a base file by column, from its footer; None when it has no rows."""
        if path not in self._stats:
            self._stats[path] = file_stats(self.view.storage, path, self.types)
        return self._stats[path]

    def stats_of_all(self, paths: Collection[str]) -> list[Mapping[str, ColumnStats]]:
        """Return the statistics of the base files that have rows, as far as possible without opening them."""
        unknown = [path for path in paths if path not in self._stats]
        self._stats.update(self._look_up(unknown))
        return [stats for path in paths if (stats := self.stats_of(path)) is not None]

    def after(self, partition_path: str, metadata: CommitMetadata) -> PartitionFiles:
        """Return what a snapshot of a partition reads once a commit is visible."""
        slices = {slice_.group.file_id: slice_ for slice_ in self.view.latest_slices(partition_path)}
        for file_id in (metadata.replaced or {}).get(partition_path, ()):
            slices.pop(file_id, None)
        base = {file_id: slice_.base.path for file_id, slice_ in slices.items() if slice_.base is not None}
        with_logs = {file_id for file_id, slice_ in slices.items() if slice_.logs}
        for stat in metadata.stats.get(partition_path, ()):
            name = (stat.path or "").rpartition("/")[2]
            if parsed := parse_base_file_name(name):
                base[parsed.file_id] = join_path(partition_path, name)
                with_logs.discard(parsed.file_id)
            elif log := parse_log_file_name(name):
                with_logs.add(log.file_id)
        return PartitionFiles(tuple(sorted(base.values())), bool(with_logs))

    def _look_up(self, paths: Iterable[str]) -> Mapping[str, Mapping[str, ColumnStats]]:
        if self._known is None:
            return {}
        wanted: dict[str, str] = {}
        for path in paths:
            partition_path, _, name = path.rpartition("/")
            wanted |= {keys.column_stats_key(column, partition_path, name): path for column in self.types}
        found: dict[str, dict[str, ColumnStats]] = {}
        for key, record in self._known.get_many(wanted):
            if not isinstance(record, ColumnStats):
                raise CorruptTableError(f"the partition {self._known.name} of the metadata table holds a {type(record).__name__}")
            if not record.is_deleted:
                found.setdefault(wanted[key], {})[record.column] = record
        return found
