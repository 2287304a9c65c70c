"""What a compaction or log compaction plans.

Rules: `HoodieCompactionPlan`, `HoodieCompactionOperation`; the measures are those of `FileSliceMetricUtils`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError, KeyFieldError
from pyhudi.spec.actions.clustering import Strategy
from pyhudi.spec.files import partition_path
from pyhudi.spec.files.file_group import FileGroupId, FileSlice

TOTAL_LOG_FILES = "TOTAL_LOG_FILES"
TOTAL_IO_MB = "TOTAL_IO_MB"
TOTAL_IO_READ_MB = "TOTAL_IO_READ_MB"
TOTAL_LOG_FILES_SIZE = "TOTAL_LOG_FILES_SIZE"
TOTAL_IO_WRITE_MB = "TOTAL_IO_WRITE_MB"
_MEGABYTE = 1 << 20
#: By this class Apache Hudi knows that a plan is one of log compaction.
LOG_COMPACTION_STRATEGY = Strategy("org.apache.hudi.table.action.compact.LogCompactionExecutionHelper", {})


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    """One file slice to compact; file names are relative to the partition in plans of version 2."""

    base_instant: str | None
    file_id: str | None
    partition_path: str | None
    data_file: str | None = None
    delta_files: tuple[str, ...] | None = None
    metrics: Mapping[str, float] | None = None
    bootstrap_file: str | None = None

    @property
    def group(self) -> FileGroupId:
        """The file group that is compacted.

        Raises:
            CorruptTableError: the operation names none, or one outside the table.
        """
        if not self.file_id or self.partition_path is None:
            raise CorruptTableError("it holds a file slice without file id or partition path")
        if "/" in self.file_id:
            raise CorruptTableError(f"it names the file group '{self.file_id}', which leads out of its partition")
        try:
            partition_path.check(self.partition_path)
        except KeyFieldError as error:
            raise CorruptTableError(f"it leads out of its table: {error}") from None
        return FileGroupId(self.partition_path, self.file_id)

    def metric(self, name: str) -> float:
        """Return a measure; 0 where the plan holds none."""
        return (self.metrics or {}).get(name, 0.0)


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Content of a requested compaction."""

    operations: tuple[CompactionOperation, ...] | None
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 2
    strategy: Strategy | None = None
    preserve_meta_columns: bool | None = None
    missing_partitions: tuple[str, ...] | None = None


def operation_of(file_slice: FileSlice, default_base_bytes: int) -> CompactionOperation:
    """Return the operation that compacts a file slice.

    Args:
        file_slice: a slice with log files.
        default_base_bytes: size to expect of the new base file when the slice has none yet.
    """
    return CompactionOperation(
        base_instant=file_slice.base_instant,
        file_id=file_slice.group.file_id,
        partition_path=file_slice.group.partition_path,
        data_file=None if file_slice.base is None else str(file_slice.base.name),
        delta_files=tuple(str(log.name) for log in file_slice.logs),
        metrics=slice_metrics(file_slice, default_base_bytes),
    )


def slice_metrics(file_slice: FileSlice, default_base_bytes: int) -> dict[str, float]:
    """Return the measures of a slice; see `group_metrics`."""
    return group_metrics((file_slice,), default_base_bytes)


def group_metrics(slices: Sequence[FileSlice], default_base_bytes: int) -> dict[str, float]:
    """Return the measures of slices in the order in which Hudi's plans hold them; megabytes are whole, rounded down."""
    logs = [log.size for file_slice in slices for log in file_slice.logs]
    bases = [0 if file_slice.base is None else file_slice.base.size for file_slice in slices]
    read, write = (sum(bases) + sum(logs)) // _MEGABYTE, sum(size or default_base_bytes for size in bases) // _MEGABYTE
    return {
        TOTAL_LOG_FILES: float(len(logs)),
        TOTAL_IO_MB: float(read + write),
        TOTAL_IO_READ_MB: float(read),
        TOTAL_LOG_FILES_SIZE: float(sum(logs)),
        TOTAL_IO_WRITE_MB: float(write),
    }
