"""What a completed (or inflight) commit, deltacommit and replacecommit say: write statistics by partition.

Rules: `HoodieWriteStat`, `HoodieCommitMetadata`, `HoodieReplaceCommitMetadata`. The codecs in `pyhudi.codec` turn
these values into the JSON of table version 6 and the Avro of 8 and later.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyhudi.spec.extra_metadata import LOG_INSERTS_KEY, SCHEMA_KEY, WRITER_KEY


class Operation(enum.StrEnum):
    """Write operations as `operationType` names them."""

    INSERT = "INSERT"
    UPSERT = "UPSERT"
    BULK_INSERT = "BULK_INSERT"
    DELETE = "DELETE"
    UPSERT_PREPPED = "UPSERT_PREPPED"
    DELETE_PREPPED = "DELETE_PREPPED"
    INSERT_OVERWRITE = "INSERT_OVERWRITE"
    INSERT_OVERWRITE_TABLE = "INSERT_OVERWRITE_TABLE"
    DELETE_PARTITION = "DELETE_PARTITION"
    COMPACT = "COMPACT"
    LOG_COMPACT = "LOG_COMPACT"
    CLUSTER = "CLUSTER"
    ALTER_SCHEMA = "ALTER_SCHEMA"
    BOOTSTRAP = "BOOTSTRAP"
    BUCKET_RESCALE = "BUCKET_RESCALE"

    @property
    def deletes_rows(self) -> bool:
        """True when each row of the data names a record to remove."""
        return self in (Operation.DELETE, Operation.DELETE_PREPPED)

    @property
    def replaces(self) -> bool:
        """True for operations that complete as a replacecommit."""
        return self in (
            Operation.INSERT_OVERWRITE,
            Operation.INSERT_OVERWRITE_TABLE,
            Operation.DELETE_PARTITION,
            Operation.BUCKET_RESCALE,
        )


@dataclass(frozen=True, slots=True)
class WriteStat:
    """What one write did to one file group. Sizes in bytes, times in milliseconds; None where Hudi writes null."""

    file_id: str | None
    path: str | None
    prev_commit: str | None = "null"
    partition_path: str | None = None
    num_writes: int = 0
    num_deletes: int = 0
    num_update_writes: int = 0
    num_inserts: int = 0
    total_write_bytes: int = 0
    total_write_errors: int = 0
    file_size_in_bytes: int = 0
    prev_base_file: str | None = None
    log_version: int | None = None
    log_offset: int | None = None
    base_file: str | None = None
    log_files: tuple[str, ...] | None = None
    cdc_stats: Mapping[str, int] | None = None
    min_event_time: int | None = None
    max_event_time: int | None = None
    total_scan_ms: int = 0
    total_create_ms: int = 0
    total_upsert_ms: int = 0
    has_runtime: bool = True
    total_log_records: int = 0
    total_log_files_compacted: int = 0
    total_log_size_compacted: int = 0
    total_log_read_ms: int = 0
    total_updated_records_compacted: int = 0
    total_log_blocks: int = 0
    total_corrupt_log_blocks: int = 0
    total_rollback_blocks: int = 0

    @property
    def files(self) -> Mapping[str, int]:
        """The files that were written, with their sizes: the data file and its logs of changes."""
        data = {} if self.path is None else {self.path: self.file_size_in_bytes}
        return {**data, **(self.cdc_stats or {})}


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """Content of a commit, deltacommit or replacecommit instant.

    `replaced` maps a partition path to the file ids that this action replaced; it is None for all but replacecommits.
    `operation` is the text on disk: readers meet operations that this release does not write.
    """

    stats: Mapping[str, tuple[WriteStat, ...]] = field(default_factory=dict)
    extra_metadata: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None
    compacted: bool = False
    replaced: Mapping[str, tuple[str, ...]] | None = None

    def all_stats(self) -> Iterator[WriteStat]:
        """Yield the write stats of all partitions."""
        for stats in self.stats.values():
            yield from stats

    @property
    def schema_json(self) -> str | None:
        """The Avro schema of the table as of this commit, without meta columns; None when the commit did not record
        one.
        """
        return self.extra_metadata.get(SCHEMA_KEY) or None

    @property
    def may_begin_records_in_logs(self) -> bool:
        """Whether log files of the commit may hold the first version of a record, whatever is counted in its write stats.

        Writers by buckets do not look for the record of a key, and count new ones among the updates of their bucket. Commits of pyhudi
        say what they may do; others may do it.
        """
        is_first_hand = WRITER_KEY in self.extra_metadata and self.operation != Operation.LOG_COMPACT
        return not is_first_hand or LOG_INSERTS_KEY in self.extra_metadata


def stats_by_partition(stats: Iterable[WriteStat]) -> dict[str, tuple[WriteStat, ...]]:
    """Return the write stats as `CommitMetadata` holds them: by partition path, each partition's in their order."""
    by_partition: dict[str, list[WriteStat]] = {}
    for stat in stats:
        by_partition.setdefault(stat.partition_path or "", []).append(stat)
    return {path: tuple(listed) for path, listed in by_partition.items()}
