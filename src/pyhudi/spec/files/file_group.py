"""File groups and their slices, as immutable values.

Rules: Hudi technical specification, "File layout"; `HoodieFileGroup`, `FileSlice`. A file group is all versions of
one set of records of a partition; a slice is one base file (or none) with the log files written on top of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.spec.files.file_names import BaseFileName, LogFileName
from pyhudi.spec.log_checksums import LogChecksum


@dataclass(frozen=True, slots=True, order=True)
class FileGroupId:
    """Partition path (relative, `""` when the table is not partitioned) and file id."""

    partition_path: str
    file_id: str

    def __str__(self) -> str:
        """Name the file group in a message."""
        return f"file group {self.file_id}" + (f" of partition '{self.partition_path}'" if self.partition_path else "")


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A base file in its partition; sizes in bytes, `modified_ms` in milliseconds since the epoch."""

    partition_path: str
    name: BaseFileName
    size: int
    modified_ms: int = 0

    @property
    def path(self) -> str:
        """Path relative to the table's base path."""
        return join_path(self.partition_path, str(self.name))


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file in its partition; size in bytes.

    `is_shared` says that the file holds blocks of other instants than that of its name: version 6 named log files by their slice, also by
    one that a pending compaction was going to make. `checksum` is given to who reads the whole file, where its commit noted one.
    """

    partition_path: str
    name: LogFileName
    size: int
    is_shared: bool = False
    checksum: LogChecksum | None = None

    @property
    def path(self) -> str:
        """Path relative to the table's base path."""
        return join_path(self.partition_path, str(self.name))


@dataclass(frozen=True, slots=True)
class FileSlice:
    """One version of a file group: what a reader merges to get the rows at `base_instant` or later."""

    group: FileGroupId
    base_instant: str
    base: BaseFile | None
    logs: tuple[LogFile, ...] = ()


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A file group with its committed slices, newest first."""

    id: FileGroupId
    slices: tuple[FileSlice, ...]

    @property
    def latest(self) -> FileSlice | None:
        """The newest committed slice, or None when nothing of the group is committed."""
        return self.slices[0] if self.slices else None


def is_in_partition(folder: str, partition_path: str) -> bool:
    """Tell whether a folder that a plan names may be that of a partition; plans name it in full, as it was before the table was moved.

    Example:
        >>> is_in_partition("s3://bucket/rides/oslo", "oslo"), is_in_partition("/data/rides/rome", "oslo")
        (True, False)
    """
    return not folder or not partition_path or folder == partition_path or folder.endswith(f"/{partition_path}")


def join_path(partition_path: str, name: str) -> str:
    """Join a partition path and a file name; the empty partition adds no separator."""
    return f"{partition_path}/{name}" if partition_path else name
