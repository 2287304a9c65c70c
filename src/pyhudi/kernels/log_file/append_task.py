"""What an append to a file group is: the slice it goes to, the name of its log file, and how blocks are written.

Rules: `HoodieAppendHandle`, `FSUtils.makeLogFileName`; docs/format/log-files.md#log-file-names,
docs/format/data-files.md#routing-in-merge-on-read-tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.file_names import LogFileName


@dataclass(frozen=True, slots=True)
class AppendTask:
    """Append to a file group: the log file `name`, and more of the next versions when that one is full.

    `columns` names the data columns that partial rows bring, None for whole rows.
    """

    instant: str
    slice: FileSlice
    name: LogFileName
    columns: tuple[str, ...] | None = None

    @property
    def partition_path(self) -> str:
        """Partition of the file group."""
        return self.slice.group.partition_path

    @property
    def file_id(self) -> str:
        """Id of the file group."""
        return self.slice.group.file_id

    @property
    def write_token(self) -> str:
        """`<task partition>-<stage>-<attempt>`."""
        return self.name.write_token or ""

    @property
    def is_named_by_instant(self) -> bool:
        """True when the log file is named by this write's instant (version 8 and later), not by its slice's."""
        return self.name.instant == self.instant

    @property
    def begins_group(self) -> bool:
        """True when the file group begins with this log file."""
        return self.slice.base is None and not self.slice.logs

    def path(self, name: LogFileName) -> str:
        """Return the path of a log file of the group, relative to the table's base path."""
        return join_path(self.partition_path, str(name))

    def with_token(self, write_token: str) -> AppendTask:
        """Return the same task for another attempt."""
        return replace(self, name=replace(self.name, write_token=write_token))
