"""What an index answers: which rows of a write belong to which file slice, and which are new.

Rules: `HoodieIndex.tagLocation`. Keys may occur more than once in a table that was inserted into; a row then belongs to
every slice that holds its key, as in Hudi, so that an update or delete reaches all copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from pyhudi.engine.engine_protocol import Engine
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.rows import PartitionRows, TaggedRows
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class LookupContext:
    """Where an index looks: the table's storage, its files as of now, and the engine that does the reading.

    `context` says how the table's records merge. `positions` asks for the positions of records in their base files,
    `live_only` leaves out records that logs have deleted.
    """

    storage: Storage
    view: FileSystemView
    engine: Engine
    context: RecordContext
    positions: bool = False
    live_only: bool = False


class Index(Protocol):
    """Finds the file slices that hold the keys of a write."""

    @property
    def name(self) -> str:
        """The value of `hoodie.index.type`."""
        ...

    @property
    def is_global(self) -> bool:
        """True when a key is unique in the table, not only in its partition."""
        ...

    def tag(self, parts: Sequence[PartitionRows], lookup: LookupContext) -> list[TaggedRows]:
        """Return the rows by where they go; a partition may be added that only loses rows."""
        ...


@runtime_checkable
class Layout(Protocol):
    """An index by which the key alone says the file group, of new records too."""

    def assign_buckets(self, parts: Sequence[PartitionRows], view: FileSystemView, *, new_groups: bool = False) -> list[TaggedRows]:
        """Return the rows by their file groups without looking for keys; `new_groups` where all rows begin new file groups."""
        ...

    def required_files(self, paths: Sequence[str], view: FileSystemView) -> Mapping[str, bytes]:
        """Return files of the table, by path, that must be there before rows of these partitions, as far as they are missing."""
        ...


@dataclass(frozen=True, slots=True)
class KeyLookup:
    """Keys to look for, and the partition that they live in if anywhere; None when it may be any."""

    keys: pa.StringArray
    partition_path: str | None = None

    def paths(self, view: FileSystemView) -> tuple[str, ...]:
        """Return the partitions to look in."""
        return view.partition_paths() if self.partition_path is None else (self.partition_path,)


@dataclass(frozen=True, slots=True)
class Hits:
    """Which of some keys are in a slice: `rows` has for each the row of the base file, `SEVERAL` where that is not known, null for none."""

    file_slice: FileSlice
    rows: pa.Int64Array


class KeyLocator(Protocol):
    """Finds keys, in some way of its own."""

    def locate(self, key_lookups: Sequence[KeyLookup], lookup: LookupContext) -> list[list[Hits]]:
        """Return, for each question, the slices that hold some of its keys."""
        ...
