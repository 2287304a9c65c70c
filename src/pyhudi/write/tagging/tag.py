"""Keyed rows to tagged rows: one row a key where the operation asks for it, and the index's answer where it needs one.

Rules: `HoodieWriteHelper` (combining before writing), `SparkUpsertCommitActionExecutor` and its siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.errors import KeyFieldError, UnsupportedError
from pyhudi.index.bucket_index import BucketIndex
from pyhudi.index.index_protocol import Index, LookupContext
from pyhudi.index.resolve_index import ResolvedIndex
from pyhudi.index.rows import PartitionRows, TaggedRows, join_tagged
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.keys.keyed_rows import live_rows
from pyhudi.kernels.merge.dedupe import last_of_each_key, precombine
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.input.prepare_rows import require_unique


@dataclass(frozen=True, slots=True)
class KeyRules:
    """How an operation treats the keys of its rows, as its options say.

    `precombine` keeps one row of each key of the data, `drop_known` leaves out rows whose key the table holds already, and with
    `fail_known` such rows, or two rows of one key, are an error. `combine_option` is the option that says `precombine`. With
    `retains_deletes` marked deletes of records that are not there are written: another writer may be inserting them.
    """

    operation: Operation
    precombine: bool
    combine_option: str
    drop_known: bool = False
    fail_known: bool = False
    retains_deletes: bool = False

    @property
    def looks_up(self) -> bool:
        """True when the index is asked where the keys live."""
        return self.drop_known or self.operation in (Operation.UPSERT, Operation.DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagOptions(KeyRules):
    """How the rows of a write find their file groups: the rules of its keys, and the index that it asks."""

    resolved: ResolvedIndex

    @property
    def rules(self) -> KeyRules:
        """The rules alone, which is all that a task needs."""
        return KeyRules(self.operation, self.precombine, self.combine_option, self.drop_known, self.fail_known, self.retains_deletes)

    @property
    def index(self) -> Index:
        """The index that is asked."""
        return self.resolved.index

    @property
    def layout(self) -> BucketIndex | None:
        """The index by which the key alone says the file group of a row, new ones too; None when there is none."""
        return self.resolved.layout


def tag_options(rules: KeyRules, resolved: ResolvedIndex, config: TableConfig) -> TagOptions:
    """Return the rules of a write's keys together with its index."""
    precombine = rules.precombine
    if resolved.layout is not None and config.is_merge_on_read and rules.operation is not Operation.UPSERT:
        precombine = True  # new rows of a bucket go to its log, which holds a key once
    return TagOptions(
        rules.operation,
        precombine,
        rules.combine_option,
        rules.drop_known,
        rules.fail_known,
        rules.retains_deletes,
        resolved=resolved,
    )


def dedupe_keys(keyed: pa.Table, tagging: TagOptions, context: RecordContext) -> pa.Table:
    """Return the rows with one for each key where the operation asks for that; `keyed` holds record key, partition path and data.

    Raises:
        KeyFieldError: a key occurs twice in the data of an upsert whose options say not to combine them.
    """
    if tagging.precombine:
        within_partition = not (tagging.index.is_global and tagging.looks_up)
        if tagging.operation is Operation.DELETE:
            return last_of_each_key(keyed, within_partition=within_partition)
        return precombine(keyed, context, within_partition=within_partition)
    if tagging.operation is Operation.UPSERT or tagging.fail_known:
        require_unique(keyed, tagging.combine_option)
    return keyed


def tag_rows(parts: Sequence[PartitionRows], tagging: TagOptions, context: RecordContext, lookup: LookupContext) -> list[TaggedRows]:
    """Return the rows of partitions by where they go.

    Raises:
        UnsupportedError: as `check_moves` says.
    """
    check_moves(tagging, lookup)
    if not tagging.looks_up:
        return assign_buckets([TaggedRows(part.partition_path, (), part.rows) for part in parts], tagging, lookup)
    tagged = tagging.index.tag(parts, lookup)
    if tagging.fail_known:
        _refuse_known(tagged)
    if tagging.drop_known and tagging.layout is None:
        return [replace(part, updates=()) for part in tagged if part.inserts.num_rows]
    return tagged if tagging.retains_deletes else drop_no_op_inserts(tagged, context)


def _refuse_known(tagged: Sequence[TaggedRows]) -> None:
    """Refuse rows whose key the table holds.

    Raises:
        KeyFieldError: names a key.
    """
    for part in tagged:
        for _, rows in part.updates:
            if rows.num_rows:
                raise KeyFieldError(
                    f"The record key '{rows.column(RECORD_KEY)[0]}' is in the table already, in partition '{part.partition_path}', and the"
                    " insert fails then: hoodie.datasource.insert.dup.policy is fail, or hoodie.sql.insert.mode strict."
                )


def check_moves(tagging: TagOptions, lookup: LookupContext) -> None:
    """Refuse what would lose values: a record that moves to another partition leaves those behind that its new version does not bring.

    Raises:
        UnsupportedError: the table fills rows from earlier versions, and the index may move them.
    """
    context, config = lookup.context, lookup.view.config
    if context.mixes_versions and tagging.index.is_global and tagging.operation is Operation.UPSERT and config.partition_fields:
        raise UnsupportedError(
            f"Table {config.name} makes rows of several versions, and the index {tagging.index.name} may move a row to another partition, "
            "away from its earlier versions: that is not served. Take an index that looks within the partition, such as "
            "hoodie.index.type=SIMPLE."
        )


def assign_buckets(tagged: Sequence[TaggedRows], tagging: TagOptions, lookup: LookupContext) -> list[TaggedRows]:
    """Return the rows with new ones in the file groups that their keys say, for an index that says so."""
    if tagging.layout is None:
        return list(tagged)
    return [_assign_buckets(part, tagging.layout, tagging, lookup) if part.inserts.num_rows else part for part in tagged]


def _assign_buckets(part: TaggedRows, layout: BucketIndex, tagging: TagOptions, lookup: LookupContext) -> TaggedRows:
    new = PartitionRows(part.partition_path, part.inserts)
    (index,) = layout.assign_buckets([new], lookup.view, new_groups=tagging.operation.replaces)
    return join_tagged([replace(part, inserts=index.inserts), index])


def drop_no_op_inserts(tagged: Sequence[TaggedRows], context: RecordContext) -> list[TaggedRows]:
    """Leave out deletes of records that are not there, and partitions that get nothing."""
    retained = (replace(part, inserts=live_rows(part.inserts, context), new_buckets=_live(part.new_buckets, context)) for part in tagged)
    return [part for part in retained if part.updates or part.inserts.num_rows or part.new_buckets or part.late]


def _live(new_buckets: Sequence[tuple[str, pa.Table]], context: RecordContext) -> tuple[tuple[str, pa.Table], ...]:
    retained = ((beginning, live_rows(rows, context)) for beginning, rows in new_buckets)
    return tuple((beginning, rows) for beginning, rows in retained if rows.num_rows)
