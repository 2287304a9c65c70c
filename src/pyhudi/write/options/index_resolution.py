"""Which index a write asks, once the table can be looked at.

An index that was named is taken, unless the table is laid out for another (`pyhudi.index.choose_index`). One that was chosen for the
table is
refined by the batch: few keys against many or large files ask bloom filters first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index import index_options as names
from pyhudi.index.bloom_index import FilterScan
from pyhudi.index.bucket_index import BucketIndex
from pyhudi.index.bucket_numbers import names_buckets
from pyhudi.index.choose_index import choose_index
from pyhudi.index.consistent_hashing import has_rings
from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_protocol import Lookup
from pyhudi.index.rows import PartitionRows
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.options import warn_unserved
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import commit_of, read_commit
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.write.options.write_config import WriteConfig
from pyhudi.write.tagging.tag import TagOptions

_log = logging.getLogger("pyhudi.index")
#: How many commits are looked at for one that wrote files.
_MOST_COMMITS: Final = 5
#: Bytes of base files for each key of the batch, and for each file, from which on filters are asked: in the time that it takes to decode a
#: filter, the keys of a file of that size are read.
_BYTES_A_KEY: Final = 4096
_BYTES_A_FILE: Final = 8 << 20
_INLINE: Final = "hoodie.clustering.inline"
#: A key is looked up in a record index in the time in which the keys of so many bytes of base files are read; few keys always are.
_BYTES_A_LOOKUP: Final = 256 << 10
_FEW_KEYS: Final = 100


def settled(write_config: WriteConfig, lookup: Lookup, latest: CommitMetadata | None) -> WriteConfig:
    """Return the choices with the index that the write asks.

    Args:
        write_config: what the options decide.
        lookup: what an index may ask.
        latest: the metadata of the commit before, None when there is none.

    Raises:
        OptionError: the options contradict how the table is laid out.
        UnsupportedError: the index cannot serve this table.
    """
    chosen = choose_index(write_config.index, lookup, _recent_groups(lookup.view, latest))
    index = chosen.index
    if write_config.tagging.drop_known and isinstance(index, GlobalIndex):
        index = replace(index, move=False)  # a key that is known in another partition is known
    has_ring = isinstance(index, BucketIndex) and index.is_consistent
    if write_config.clusters and not has_ring:
        _check_clustering(lookup.view.config.name, is_strict=write_config.refuses_unserved)
    if write_config.tagging.operation.replaces and has_ring:
        raise UnsupportedError(
            f"{write_config.tagging.operation.value} of table {lookup.view.config.name} is not served: consistent hashing "
            "names file groups by"
            " their buckets, so that rows written later would be taken for those that were replaced. Delete the rows and insert others."
        )
    tagging = replace(write_config.tagging, index=index, reason=chosen.reason)
    if tagging.layout is not None and lookup.view.config.is_merge_on_read and tagging.operation is not Operation.UPSERT:
        tagging = replace(tagging, precombine=True)  # new rows of a bucket go to its log, where a key stands once
    return replace(write_config, tagging=tagging)


def _check_clustering(table: str, *, is_strict: bool) -> None:
    """Warn that a table is not clustered after the write; refuse that when the options are to be so strict."""
    reason = f"table {table} is not laid out by consistent hashing, and clustering of other tables comes with a later release"
    if is_strict:
        raise UnsupportedError(f"{_INLINE}=true: {reason}; leave the option out")
    warn_unserved(_INLINE, reason)


def is_laid_out_by_keys(storage: Storage, config: TableConfig) -> bool:
    """Tell whether the file groups of a table are buckets, as of now and without its lock."""
    view = FileSystemView(storage, config, load_full_timeline(storage, config))
    last = view.timeline.last_completed()
    latest = None if last is None else read_commit(storage, config, last)
    return names_buckets(_recent_groups(view, latest)) or has_rings(view)


def refined(tagging: TagOptions, asked: names.IndexOptions, parts: Sequence[PartitionRows], view: FileSystemView) -> TagOptions:
    """Return how rows are tagged, with the index that suits a batch as well, and say so in the log."""
    if not tagging.looks_up:
        return tagging
    if asked.name is None and isinstance(tagging.index, PartitionIndex):
        tagging = _suited(tagging, tagging.index, asked, parts, view)
    _log.info("%s of table %s asks the index %s: %s", tagging.operation.value, view.config.name, tagging.index.name, tagging.reason)
    return tagging


def lookup_pays(keys: int, size: int) -> bool:
    """Tell whether so many keys are looked up in a record index in less time than the keys of base files of `size` bytes are read."""
    return keys <= _FEW_KEYS or size > keys * _BYTES_A_LOOKUP


def _suited(
    tagging: TagOptions, index: PartitionIndex, asked: names.IndexOptions, parts: Sequence[PartitionRows], view: FileSystemView
) -> TagOptions:
    """Return how rows are tagged by an index that nobody named: by what costs least for so many keys and files."""
    files = [file for part in parts for file in view.latest_base_files(part.partition_path)]
    keys, size = sum(part.rows.num_rows for part in parts), sum(file.size for file in files)
    counted = f"{tagging.reason}; {keys} keys against {len(files)} base files of {size >> 20} MiB"
    if index.name == names.RECORD_LEVEL and lookup_pays(keys, size):
        return tagging
    if files and size > max(keys * _BYTES_A_KEY, len(files) * _BYTES_A_FILE):
        finder = FilterScan(asked.bloom_precheck, from_metadata=asked.bloom_from_metadata)
        return replace(tagging, index=PartitionIndex(names.BLOOM, finder), reason=f"{counted}: filters come first")
    cheaper = "asking filters" if index.name == names.SIMPLE else "asking it"
    return replace(tagging, index=PartitionIndex(), reason=f"{counted}: reading keys is cheaper than {cheaper}")


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
        yield commit_of(view.storage, view.config, view.timeline, instant)


def _groups(commit: CommitMetadata) -> list[FileGroupId]:
    return [FileGroupId(stat.partition_path or "", stat.file_id) for stat in commit.all_stats() if stat.path and stat.file_id]
