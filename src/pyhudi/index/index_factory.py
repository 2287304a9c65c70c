"""Makes the index that a write asks from the options of the write, and refuses options that contradict how the table is laid out.

Rules: `SparkHoodieIndexFactory`. Which index it is: `pyhudi.index.resolve_index`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.index import index_options as names
from pyhudi.index.bloom_index import FilterScan
from pyhudi.index.bucket_index import BucketIndex, Hashing
from pyhudi.index.bucket_numbers import CountRules, NumberedBuckets, load_rules, names_buckets, parse_expressions, rules_file
from pyhudi.index.bucket_validation import CheckedBuckets, ProvenBuckets
from pyhudi.index.consistent_hashing import ConsistentBuckets, uses_consistent_hashing
from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_options import IndexOptions
from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Index, KeyLocator, LookupContext
from pyhudi.index.record_index import RecordIndexLookup
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.table.table_config import TableConfig


def check_virtual_keys(options: IndexOptions, config: TableConfig) -> None:
    """Refuse indexes that need what tables with virtual keys do not store: keys in files, filters and ranges in footers, a record index.

    Raises:
        UnsupportedError: the options name such an index.
    """
    if not config.populate_meta_fields and options.name not in (None, names.SIMPLE, names.GLOBAL_SIMPLE):
        raise UnsupportedError(
            f"table {config.name} has virtual keys (hoodie.populate.meta.fields=false), which {names.TYPE}={options.name} does not find;"
            f" leave the option out, or set {names.SIMPLE} or {names.GLOBAL_SIMPLE}, as in Hudi."
        )


def named_index(name: str, options: IndexOptions, config: TableConfig) -> Index:
    """Return the index of a name, other than BUCKET."""
    locator: KeyLocator = KeyScan()
    move = options.move_simple
    if name in (names.BLOOM, names.GLOBAL_BLOOM):
        locator, move = FilterScan(options.bloom_precheck, from_metadata=options.bloom_from_metadata), options.move_bloom
    elif name in (names.RECORD_LEVEL, names.GLOBAL_RECORD_LEVEL):
        unsaid = RECORD_INDEX not in config.metadata_partitions and options.move_simple
        locator, move = RecordIndexLookup(), unsaid if options.move_record is None else options.move_record
    if name in (names.GLOBAL_SIMPLE, names.GLOBAL_BLOOM, names.GLOBAL_RECORD_LEVEL):
        return GlobalIndex(name, locator, tuple(config.ordering_fields), config.merge_mode, move=move)
    return PartitionIndex(name, locator)


def bucket_index(options: IndexOptions, lookup: LookupContext, recent: Sequence[FileGroupId]) -> BucketIndex:
    """Return the index BUCKET of a table.

    Args:
        options: what the options say.
        lookup: what an index may ask.
        recent: file groups that the table's last writes wrote.

    Raises:
        OptionError: the options contradict how the table is laid out, or the table has no record key.
        UnsupportedError: consistent hashing is asked for, and the table is copy-on-write.
    """
    config = lookup.view.config
    fields = options.hash_fields or tuple(config.record_key_fields)
    if unknown := [field for field in fields if field not in config.record_key_fields]:
        raise OptionError(f"{names.HASH_FIELDS} names '{unknown[0]}', which is no record key field of table {config.name}")
    if not fields:
        raise OptionError(f"{names.TYPE}={names.BUCKET} needs a record key, and table {config.name} has none")
    if options.consistent or uses_consistent_hashing(lookup.view):
        if not config.is_merge_on_read:
            raise UnsupportedError(f"hoodie.index.bucket.engine=CONSISTENT_HASHING needs a merge-on-read table, which {config.name} is not")
        if recent and not uses_consistent_hashing(lookup.view):
            raise OptionError(
                f"hoodie.index.bucket.engine=CONSISTENT_HASHING contradicts table {config.name}, whose file groups are no such buckets"
                f" (one is {recent[0].file_id}): leave the option out, or write the rows into a new table"
            )
        hashing = ConsistentBuckets(fields, options.bucket_count or options.default_count)
        return BucketIndex(CheckedBuckets(hashing, lookup), is_consistent=True)
    if recent and not names_buckets(recent):
        raise OptionError(
            f"{names.TYPE}={names.BUCKET} contradicts table {config.name}, whose file groups are no buckets (one is {recent[0].file_id}):"
            " leave the option out, or write the rows into a new table"
        )
    return BucketIndex(CheckedBuckets(_numbered(fields, options, lookup, recent), lookup))


def _check_rules(rules: CountRules, options: IndexOptions, config: TableConfig) -> None:
    """Refuse options that say other numbers of buckets than the table does."""
    if options.expressions and parse_expressions(options.expressions, names.EXPRESSIONS) != rules.expressions:
        recorded = ";".join(f"{expression},{count}" for expression, count in rules.expressions)
        raise OptionError(
            f"{names.EXPRESSIONS}={options.expressions} contradicts table {config.name}, which has '{recorded}': leave it out"
        )
    if options.bucket_count not in (None, rules.default):
        raise OptionError(
            f"{names.BUCKET_COUNT}={options.bucket_count} contradicts table {config.name}, whose partitions that no expression matches have"
            f" {rules.default} buckets: leave it out"
        )


def _numbered(fields: tuple[str, ...], options: IndexOptions, lookup: LookupContext, recent: Sequence[FileGroupId]) -> Hashing:
    rules = load_rules(lookup.view)
    if rules is not None:
        _check_rules(rules, options, lookup.view.config)
        return NumberedBuckets(fields, rules)
    default = options.bucket_count or options.default_count
    if options.expressions:
        rules = CountRules(default, parse_expressions(options.expressions, names.EXPRESSIONS))
        return NumberedBuckets(fields, rules, rules_file(rules, options.expressions))
    if recent and options.bucket_count is None:
        return ProvenBuckets(fields, lookup, tuple(recent))
    return NumberedBuckets(fields, CountRules(default))
