"""Which index a write asks: the one that its options name, else the one that the table was laid out for.

Rules: `SparkHoodieIndexFactory`. Unlike Hudi, whose default is SIMPLE whatever the table looks like: a table that was written by buckets is
written by buckets, and a record index that is there is asked. It is asked within partitions, whatever it spans: what a key means does
not change because somebody made an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.index import index_options as names
from pyhudi.index.bloom_index import FilterScan
from pyhudi.index.bucket_index import BucketIndex, Hashing
from pyhudi.index.bucket_numbers import CountRules, NumberedBuckets, first_rules_file, load_rules, names_buckets, parse_expressions
from pyhudi.index.bucket_validation import CheckedBuckets, ProvenBuckets
from pyhudi.index.consistent_hashing import ConsistentBuckets, has_rings
from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_options import IndexOptions
from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Finder, Index, Lookup
from pyhudi.index.record_index import RecordIndexLookup
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.table.table_config import TableConfig


@dataclass(frozen=True, slots=True)
class ChosenIndex:
    """An index, and why that one."""

    index: Index
    reason: str


def choose_index(asked: IndexOptions, lookup: Lookup, recent: Sequence[FileGroupId]) -> ChosenIndex:
    """Return the index that the options name, else the one that suits the table.

    Args:
        asked: what the options say.
        lookup: what an index may ask.
        recent: file groups that the table's last writes wrote.

    Raises:
        OptionError: the options contradict how the table is laid out.
        UnsupportedError: the table cannot be written by that index.
    """
    view, config = lookup.view, lookup.view.config
    _check_virtual(asked, config)
    if asked.name == names.BUCKET:
        return ChosenIndex(_bucket_index(asked, lookup, recent), f"{names.TYPE} names it")
    if not config.record_key_fields:
        return ChosenIndex(PartitionIndex(), "the table has no record key, so that nothing is looked up")
    if names_buckets(recent) or has_rings(view):
        if asked.name is None:
            return ChosenIndex(_bucket_index(asked, lookup, recent), "the file groups of the table are buckets")
        asker = ", which a delete by the key generator GLOBAL_DELETE asks for too," if asked.name == names.GLOBAL_SIMPLE else ""
        raise OptionError(
            f"{names.TYPE}={asked.name}{asker} contradicts table {config.name}, whose file groups are buckets: another index would add file"
            f" groups that are none. Leave the option out, or set {names.TYPE}={names.BUCKET}."
        )
    if asked.name is not None:
        return ChosenIndex(_named(asked.name, asked, config), f"{names.TYPE} names it")
    if RECORD_INDEX in config.metadata_partitions:
        return ChosenIndex(_named(names.RECORD_LEVEL, asked, config), "the metadata table has a record index")
    return ChosenIndex(PartitionIndex(), "the table has no record index, and its file groups are no buckets")


def provisional_index(asked: IndexOptions, config: TableConfig) -> Index:
    """Return the index that the options name, or that the table's properties speak for, before the table is looked at."""
    _check_virtual(asked, config)
    if asked.name is not None and asked.name != names.BUCKET:
        return _named(asked.name, asked, config)
    if asked.name is None and RECORD_INDEX in config.metadata_partitions:
        return _named(names.RECORD_LEVEL, asked, config)
    return PartitionIndex()


def asks_record_index(index: Index) -> bool:
    """Tell whether an index finds keys by the record index of the metadata table."""
    return isinstance(index, PartitionIndex | GlobalIndex) and isinstance(index.finder, RecordIndexLookup)


def _check_virtual(asked: IndexOptions, config: TableConfig) -> None:
    """Refuse indexes that need what tables with virtual keys do not store: keys in files, filters and ranges in footers, a record index."""
    if not config.populate_meta_fields and asked.name not in (None, names.SIMPLE, names.GLOBAL_SIMPLE):
        raise UnsupportedError(
            f"table {config.name} has virtual keys (hoodie.populate.meta.fields=false), which {names.TYPE}={asked.name} does not find;"
            f" leave the option out, or set {names.SIMPLE} or {names.GLOBAL_SIMPLE}, as in Hudi."
        )


def _named(name: str, asked: IndexOptions, config: TableConfig) -> Index:
    finder: Finder = KeyScan()
    move = asked.move_simple
    if name in (names.BLOOM, names.GLOBAL_BLOOM):
        finder, move = FilterScan(asked.bloom_precheck, from_metadata=asked.bloom_from_metadata), asked.move_bloom
    elif name in (names.RECORD_LEVEL, names.GLOBAL_RECORD_LEVEL):
        unsaid = RECORD_INDEX not in config.metadata_partitions and asked.move_simple
        finder, move = RecordIndexLookup(), unsaid if asked.move_record is None else asked.move_record
    if name in (names.GLOBAL_SIMPLE, names.GLOBAL_BLOOM, names.GLOBAL_RECORD_LEVEL):
        return GlobalIndex(name, finder, tuple(config.ordering_fields), config.merge_mode, move=move)
    return PartitionIndex(name, finder)


def _bucket_index(asked: IndexOptions, lookup: Lookup, recent: Sequence[FileGroupId]) -> BucketIndex:
    config = lookup.view.config
    fields = asked.hash_fields or tuple(config.record_key_fields)
    if unknown := [field for field in fields if field not in config.record_key_fields]:
        raise OptionError(f"{names.HASH_FIELDS} names '{unknown[0]}', which is no record key field of table {config.name}")
    if not fields:
        raise OptionError(f"{names.TYPE}={names.BUCKET} needs a record key, and table {config.name} has none")
    if asked.consistent or has_rings(lookup.view):
        if not config.is_merge_on_read:
            raise UnsupportedError(f"hoodie.index.bucket.engine=CONSISTENT_HASHING needs a merge-on-read table, which {config.name} is not")
        if recent and not has_rings(lookup.view):
            raise OptionError(
                f"hoodie.index.bucket.engine=CONSISTENT_HASHING contradicts table {config.name}, whose file groups are no such buckets"
                f" (one is {recent[0].file_id}): leave the option out, or write the rows into a new table"
            )
        hashing = ConsistentBuckets(fields, asked.bucket_count or asked.default_count)
        return BucketIndex(CheckedBuckets(hashing, lookup), is_consistent=True)
    if recent and not names_buckets(recent):
        raise OptionError(
            f"{names.TYPE}={names.BUCKET} contradicts table {config.name}, whose file groups are no buckets (one is {recent[0].file_id}):"
            " leave the option out, or write the rows into a new table"
        )
    return BucketIndex(CheckedBuckets(_numbered(fields, asked, lookup, recent), lookup))


def _check_rules(rules: CountRules, asked: IndexOptions, config: TableConfig) -> None:
    """Refuse options that say other numbers of buckets than the table does."""
    if asked.expressions and parse_expressions(asked.expressions, names.EXPRESSIONS) != rules.expressions:
        recorded = ";".join(f"{expression},{count}" for expression, count in rules.expressions)
        raise OptionError(f"{names.EXPRESSIONS}={asked.expressions} contradicts table {config.name}, which has '{recorded}': leave it out")
    if asked.bucket_count not in (None, rules.default):
        raise OptionError(
            f"{names.BUCKET_COUNT}={asked.bucket_count} contradicts table {config.name}, whose partitions that no expression matches have"
            f" {rules.default} buckets: leave it out"
        )


def _numbered(fields: tuple[str, ...], asked: IndexOptions, lookup: Lookup, recent: Sequence[FileGroupId]) -> Hashing:
    rules = load_rules(lookup.view)
    if rules is not None:
        _check_rules(rules, asked, lookup.view.config)
        return NumberedBuckets(fields, rules)
    default = asked.bucket_count or asked.default_count
    if asked.expressions:
        rules = CountRules(default, parse_expressions(asked.expressions, names.EXPRESSIONS))
        return NumberedBuckets(fields, rules, first_rules_file(rules, asked.expressions))
    if recent and asked.bucket_count is None:
        return ProvenBuckets(fields, lookup, tuple(recent))
    return NumberedBuckets(fields, CountRules(default))
