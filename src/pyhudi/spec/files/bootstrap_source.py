"""The files that a table was bootstrapped from, and the instants of a bootstrap.

Rules: RFC-12 "Efficient migration of large Parquet tables"; `HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS`, `BootstrapFileMapping`;
docs/format/bootstrap.md. A base file of the first instant is a skeleton: it holds the five meta columns of the rows of a source file, in
the same order, and the data columns stay in the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: The instant of the partitions whose data stays in the source.
METADATA_BOOTSTRAP: Final = "00000000000001"
#: The instant of the partitions that were copied.
FULL_BOOTSTRAP: Final = "00000000000002"
_MS_PER_SECOND: Final = 1000
BOOTSTRAP_INSTANTS: Final = frozenset({METADATA_BOOTSTRAP, FULL_BOOTSTRAP})


@dataclass(frozen=True, slots=True)
class BootstrapSource:
    """A source file, as it was when the table was bootstrapped.

    `uri` is absolute and in Hadoop's form (`file:/lake/a.parquet`), `size` is in bytes, `modified_ms` in milliseconds since the epoch;
    `partition_path` is the folder relative to the path that was bootstrapped.
    """

    uri: str
    size: int
    modified_ms: int
    partition_path: str

    def was_modified(self, modified_ms: int) -> bool:
        """Tell whether a file of this time of its last change is another one; object stores and copies may know seconds only.

        Example:
            >>> BootstrapSource("file:/lake/a.parquet", 4, 1500, "").was_modified(1000)
            False
        """
        return bool(self.modified_ms) and modified_ms // _MS_PER_SECOND != self.modified_ms // _MS_PER_SECOND

    @property
    def folder(self) -> str:
        """The URI of the folder that holds the file."""
        return self.uri.rpartition("/")[0]

    @property
    def base(self) -> str:
        """The URI of the folder that was bootstrapped."""
        return self.folder.removesuffix(f"/{self.partition_path}") if self.partition_path else self.folder

    @property
    def name(self) -> str:
        """The name of the file in its folder."""
        return self.uri.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class PartitionSources:
    """The source files of a partition of the table, by the file id of their skeleton."""

    partition_path: str
    source_path: str
    files: dict[str, BootstrapSource]


def is_skeleton(instant: str) -> bool:
    """Tell whether a base file of this instant holds meta columns only.

    Example:
        >>> is_skeleton("00000000000001"), is_skeleton("20260101000000000")
        (True, False)
    """
    return instant == METADATA_BOOTSTRAP
