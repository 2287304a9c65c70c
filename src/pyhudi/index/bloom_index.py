"""Finds keys by the bloom filters of base files: in their footers, or in the partition `bloom_filters` of the metadata table.

Rules: `HoodieBloomIndex`, `HoodieMetadataBloomFilterProbingFunction`. Where the metadata table has no filter of a file, or cannot be
asked, the footer is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Hits, KeyLookup, LookupContext
from pyhudi.index.metadata_lookup import usable_metadata_table
from pyhudi.kernels.base_file.bloom_probe import might_contain
from pyhudi.kernels.keys.key_probe import Precheck
from pyhudi.metadata_table.format.metadata_partitions import BLOOM_FILTERS
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.spec.files.file_group import BaseFile

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FilterScan:
    """Reads key columns of the files whose filters do not rule the keys out; `from_metadata` asks the metadata table first."""

    precheck: Precheck = field(default_factory=lambda: Precheck(bloom=True))
    from_metadata: bool = False

    def locate(self, key_lookups: Sequence[KeyLookup], lookup: LookupContext) -> list[list[Hits]]:
        """Return, for each question, the slices that hold some of its keys."""
        ruled_out: set[tuple[int, BaseFile]] = set()
        if self.from_metadata:
            try:
                ruled_out = _is_ruled_out(key_lookups, lookup)
            except (CorruptTableError, UnsupportedError) as error:
                _log.warning("the bloom filters of the metadata table of %s are not asked, footers are: %s", lookup.storage.uri, error)
        return KeyScan(self.precheck).locate(key_lookups, lookup, ruled_out)


def _is_ruled_out(key_lookups: Sequence[KeyLookup], lookup: LookupContext) -> set[tuple[int, BaseFile]]:
    """Return which questions need not be put to which base files."""
    view = lookup.view
    table = usable_metadata_table(lookup, BLOOM_FILTERS)
    ruled_out: set[tuple[int, BaseFile]] = set()
    filters: dict[str, Mapping[str, BloomFilter]] = {}
    for number, one in enumerate(key_lookups):
        for path in one.paths(view):
            if path not in filters:
                filters[path] = _filters(table, view, path)
            for base in view.latest_base_files(path):
                bloom = filters[path].get(str(base.name))
                if bloom is not None and not might_contain(bloom, one.keys).any():
                    ruled_out.add((number, base))
    return ruled_out


def _filters(table: MetadataTable, view: FileSystemView, path: str) -> Mapping[str, BloomFilter]:
    records = table.bloom_filters(path, [str(base.name) for base in view.latest_base_files(path)])
    return {
        name: BloomFilter.decode(record.text.decode(errors="replace"), BloomType(record.kind))
        for name, record in records.items()
        if record.kind in set(BloomType)  # a filter of an unknown type rules nothing out
    }
