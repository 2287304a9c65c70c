"""Which index a write asks, and why: decided once, for every engine.

The index that the options name; else the one that the table is laid out for; else, of the indexes within partitions, the one that costs
least for this batch. Rules: `SparkHoodieIndexFactory`. Unlike Hudi, whose default is SIMPLE whatever the table looks like: a table that was
written by buckets is written by buckets, and a record index of the table is asked. It is asked within partitions, whatever it spans: what a
key means does not change when an index is created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index import index_options as names
from pyhudi.index.bloom_index import FilterScan
from pyhudi.index.bucket_index import BucketIndex
from pyhudi.index.bucket_numbers import names_buckets
from pyhudi.index.consistent_hashing import uses_consistent_hashing
from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_factory import bucket_index, check_virtual_keys, named_index
from pyhudi.index.index_options import IndexOptions
from pyhudi.index.index_protocol import Index, LookupContext
from pyhudi.index.record_index import RecordIndexLookup
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import BaseFile, FileGroupId
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline

#: How many commits are looked at for one that wrote files.
_MOST_COMMITS: Final = 5
#: Bytes of base files for each key of the batch, and for each file, from which on filters are asked: in the time that it takes to decode a
#: filter, the keys of a file of that size are read.
_BYTES_A_KEY: Final = 4096
_BYTES_A_FILE: Final = 8 << 20
#: A key is looked up in a record index in the time in which the keys of so many bytes of base files are read; few keys always are.
_BYTES_A_LOOKUP: Final = 256 << 10
_FEW_KEYS: Final = 100
_JOIN: Final = "Spark's tasks find keys by a join with those of the files"


@dataclass(frozen=True, slots=True)
class ResolvedIndex:
    """The index that a write asks, and why that one."""

    index: Index
    reason: str

    @property
    def layout(self) -> BucketIndex | None:
        """The index by which the key alone says the file group of a row, new ones too; None when there is none."""
        return self.index if isinstance(self.index, BucketIndex) else None


@dataclass(frozen=True, slots=True)
class BatchKeys:
    """The keys that a write looks up: how many, and the partitions that they may be in.

    With `by_join`, Spark joins them with the keys of the files, or asks the file groups of a record index, and never bloom filters. `count`
    is Spark's estimate then; it is a function because the estimate costs time.
    """

    count: Callable[[], int]
    paths: Sequence[str]
    by_join: bool = False


def resolve_index(
    options: IndexOptions, lookup: LookupContext, latest: CommitMetadata | None, batch: BatchKeys | None, *, known_stay: bool = False
) -> ResolvedIndex:
    """Return the index that a write asks.

    Args:
        options: what the options say.
        lookup: what an index may ask.
        latest: the metadata of the commit before, None when there is none.
        batch: what is looked up; None when no keys are.
        known_stay: a key that is known in another partition is known, and its record does not move.

    Raises:
        OptionError: the options contradict how the table is laid out.
        UnsupportedError: the table cannot be written by that index.
    """
    resolved = _by_table(options, lookup, _recent_groups(lookup.view, latest))
    if known_stay and isinstance(resolved.index, GlobalIndex):
        resolved = replace(resolved, index=replace(resolved.index, move=False))
    if batch is None or resolved.layout is not None:
        return resolved
    if batch.by_join:
        return _suit_join(resolved, options, batch, lookup.view)
    if options.name is None and isinstance(resolved.index, PartitionIndex):
        return _suit_batch(resolved, resolved.index, options, batch, lookup.view)
    return resolved


def expected_index(options: IndexOptions, config: TableConfig) -> str:
    """Return the name of the index that options and properties speak for, where nobody looks at the table's files."""
    if options.name is not None:
        return options.name
    return names.RECORD_LEVEL if RECORD_INDEX in config.metadata_partitions else names.SIMPLE


def asks_record_index(index: Index) -> bool:
    """Tell whether an index finds keys by the record index of the metadata table."""
    return isinstance(index, PartitionIndex | GlobalIndex) and isinstance(index.locator, RecordIndexLookup)


def is_laid_out_by_keys(storage: Storage, config: TableConfig) -> bool:
    """Tell whether the file groups of a table are buckets, as of now and without its lock."""
    view = FileSystemView(storage, config, load_full_timeline(storage, config))
    return has_fixed_buckets(view) or uses_consistent_hashing(view)


def has_fixed_buckets(view: FileSystemView) -> bool:
    """Tell whether the file groups that a view shows are buckets which are not resized."""
    last = view.timeline.last_completed()
    latest = None if last is None else load_commit_metadata(view.storage, view.config, view.timeline, last)
    return names_buckets(_recent_groups(view, latest))


def _by_table(options: IndexOptions, lookup: LookupContext, recent: Sequence[FileGroupId]) -> ResolvedIndex:
    """Return the index that the options name, else the one that the table was laid out for."""
    view, config = lookup.view, lookup.view.config
    check_virtual_keys(options, config)
    if options.name == names.BUCKET:
        return ResolvedIndex(bucket_index(options, lookup, recent), f"{names.TYPE} names it")
    if not config.record_key_fields:
        return ResolvedIndex(PartitionIndex(), "the table has no record key, so that nothing is looked up")
    if names_buckets(recent) or uses_consistent_hashing(view):
        if options.name is None:
            return ResolvedIndex(bucket_index(options, lookup, recent), "the file groups of the table are buckets")
        asker = ", which a delete by the key generator GLOBAL_DELETE asks for too," if options.name == names.GLOBAL_SIMPLE else ""
        raise OptionError(
            f"{names.TYPE}={options.name}{asker} contradicts table {config.name}, whose file groups are buckets: another index would add"
            f" file groups that are no buckets. Leave the option out, or set {names.TYPE}={names.BUCKET}."
        )
    if options.name is not None:
        return ResolvedIndex(named_index(options.name, options, config), f"{names.TYPE} names it")
    if RECORD_INDEX in config.metadata_partitions:
        return ResolvedIndex(named_index(names.RECORD_LEVEL, options, config), "the metadata table has a record index")
    return ResolvedIndex(PartitionIndex(), "the table has no record index, and its file groups are no buckets")


def _suit_join(resolved: ResolvedIndex, options: IndexOptions, batch: BatchKeys, view: FileSystemView) -> ResolvedIndex:
    """Return the index for keys that Spark joins: a record index that no option names is asked where that costs less."""
    if not asks_record_index(resolved.index):
        return replace(resolved, reason=f"{resolved.reason}; {_JOIN}")
    if options.name is not None:
        return replace(resolved, reason=f"{resolved.reason}; Spark's tasks ask its file groups")
    keys, size = batch.count(), _size(_base_files(batch, view))
    counted = f"{resolved.reason}; about {keys} rows, by Spark's estimate, against base files of {size >> 20} MiB"
    if _lookup_pays(keys, size):
        return replace(resolved, reason=f"{counted}: Spark's tasks ask its file groups")
    return ResolvedIndex(PartitionIndex(), f"{counted}: {_JOIN}")


def _suit_batch(
    resolved: ResolvedIndex, index: PartitionIndex, options: IndexOptions, batch: BatchKeys, view: FileSystemView
) -> ResolvedIndex:
    """Return an index that no option names: the one that costs least for so many keys and files."""
    files = _base_files(batch, view)
    keys, size = batch.count(), _size(files)
    counted = f"{resolved.reason}; {keys} keys against {len(files)} base files of {size >> 20} MiB"
    if index.name == names.RECORD_LEVEL and _lookup_pays(keys, size):
        return resolved
    if files and size > max(keys * _BYTES_A_KEY, len(files) * _BYTES_A_FILE):
        locator = FilterScan(options.bloom_precheck, from_metadata=options.bloom_from_metadata)
        return ResolvedIndex(PartitionIndex(names.BLOOM, locator), f"{counted}: filters come first")
    cheaper = "asking filters" if index.name == names.SIMPLE else "asking it"
    return ResolvedIndex(PartitionIndex(), f"{counted}: reading keys is cheaper than {cheaper}")


def _lookup_pays(keys: int, size: int) -> bool:
    """Tell whether so many keys are looked up in a record index in less time than the keys of base files of `size` bytes are read."""
    return keys <= _FEW_KEYS or size > keys * _BYTES_A_LOOKUP


def _base_files(batch: BatchKeys, view: FileSystemView) -> list[BaseFile]:
    view.look_up(batch.paths)
    return [file for path in batch.paths for file in view.latest_base_files(path)]


def _size(files: Sequence[BaseFile]) -> int:
    return sum(file.size for file in files)


def _recent_groups(view: FileSystemView, latest: CommitMetadata | None) -> list[FileGroupId]:
    """Return the file groups of the last commit that wrote any; those of some partition, where none of the last commits did."""
    match = next((groups for commit in _commits(view, latest) if (groups := _groups(commit))), [])
    if match or latest is None:
        return match
    listed = (view.latest_slices(path) for path in view.partition_paths())
    return next(([file_slice.group for file_slice in slices] for slices in listed if slices), [])


def _commits(view: FileSystemView, latest: CommitMetadata | None) -> Iterator[CommitMetadata]:
    if latest is None:
        return
    yield latest
    for instant in islice(reversed(view.timeline.data_instants()), 1, _MOST_COMMITS):
        yield load_commit_metadata(view.storage, view.config, view.timeline, instant)


def _groups(commit: CommitMetadata) -> list[FileGroupId]:
    return [FileGroupId(stat.partition_path or "", stat.file_id) for stat in commit.all_stats() if stat.path and stat.file_id]
