"""Indexes of which a key lives once in the table: GLOBAL_SIMPLE, GLOBAL_BLOOM, GLOBAL_RECORD_LEVEL_INDEX, which find it in different ways.

Rules: `HoodieGlobalSimpleIndex`, `HoodieIndexUtils.mergeForPartitionUpdatesIfNeeded`. A record that is found in another
partition than its row names is moved there or updated where it is (`hoodie.*.index.update.partition.path`). Under event time a
late row moves nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.index_probe import KeyScan
from pyhudi.index.index_protocol import Hits, KeyLocator, KeyLookup, LookupContext
from pyhudi.index.live_records import live_rows, mark_live, of_live_records
from pyhudi.index.rows import PartitionRows, TaggedRows, deletes_of, join_rows, key_array, with_positions
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.kernels.merge.dedupe import greatest_of_each_key
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.table.merge_mode import MergeMode

_ORIGIN = "_pyhudi_incoming"


@dataclass(frozen=True, slots=True)
class GlobalIndex:
    """Looks in all partitions; `name` is the value of `hoodie.index.type`. `move` says what happens to a record that is found in
    another partition than its row names.
    """

    name: str = "GLOBAL_SIMPLE"
    locator: KeyLocator = field(default_factory=KeyScan)
    ordering_fields: tuple[str, ...] = ()
    merge_mode: MergeMode = MergeMode.COMMIT_TIME_ORDERING
    move: bool = True

    @property
    def is_global(self) -> bool:
        """True: a key lives once in the table."""
        return True

    def tag(self, parts: Sequence[PartitionRows], lookup: LookupContext) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol."""
        keys = [key_array(part.rows) for part in parts]
        # Every file is asked for the keys of all partitions at once.
        (all_hits,) = self.locator.locate([KeyLookup(pa.concat_arrays(keys))], lookup)
        counts = itertools.accumulate(map(len, keys), initial=0)
        hits = [_hits_of(all_hits, begin, len(part)) for begin, part in zip(counts, keys, strict=False)]
        return self.route_rows(list(zip(parts, hits, strict=True)), self.record_state(lookup), positions=lookup.positions)

    def record_state(self, lookup: LookupContext) -> StoredRecordState:
        """Return what the table's files say of records."""
        return StoredRecordState(lookup, self.ordering_fields if self.merge_mode is MergeMode.EVENT_TIME_ORDERING else ())

    def route_rows(
        self, hits_of_parts: Sequence[tuple[PartitionRows, Sequence[Hits]]], record_state: RecordState, *, positions: bool
    ) -> list[TaggedRows]:
        """Return the rows of partitions by where they go, from the slices that hold their keys.

        Args:
            hits_of_parts: the rows of each partition, one a key, and the hits of their keys.
            record_state: what the slices say of the records.
            positions: whether to add the places of records in their base files.
        """
        routes = _Routes(positions=positions)
        for part, hits in hits_of_parts:
            self._route(part, hits, record_state, routes)
        return routes.tagged()

    def _route(self, part: PartitionRows, hits_of_keys: Sequence[Hits], record_state: RecordState, routes: _Routes) -> None:
        """Send the rows of one partition where their records are; what a log has deleted or moved away has no location."""
        keys = key_array(part.rows)
        within = [hits for hits in hits_of_keys if hits.file_slice.group.partition_path == part.partition_path]
        live = of_live_records(within, keys, record_state.mark_live)
        others = [hits for hits in hits_of_keys if hits.file_slice.group.partition_path != part.partition_path]
        resolved = late = pa.repeat(pa.scalar(False), part.rows.num_rows)
        for hits in others:
            mask = record_state.mark_live(hits, keys)
            if not self.move:
                routes.update(hits, part.rows, mask)
                resolved = pc.or_(resolved, mask)
            else:
                rows = part.rows.filter(mask)
                winners = record_state.mark_not_late(rows, hits.file_slice)
                routes.delete(hits.file_slice, rows.filter(winners))
                late = pc.or_(late, pc.replace_with_mask(mask, mask, pc.invert(winners)))
        taken = pc.or_(resolved, late)
        for hits in live:
            mask = hits.rows.is_valid()
            if pc.any(pc.and_(mask, taken)).as_py():
                mask = pc.or_(record_state.mark_live(hits, keys), pc.and_(mask, pc.invert(taken)))
            routes.update(hits, part.rows, mask)
            resolved = pc.or_(resolved, mask)
        new = pc.invert(pc.or_(resolved, late))
        routes.insert(part.partition_path, part.rows.filter(new), late=pc.sum(late).as_py() or 0)


def _hits_of(all_hits: Sequence[Hits], begin: int, count: int) -> list[Hits]:
    """Return the hits of some consecutive ones of the keys that were looked for."""
    sliced = (Hits(hits.file_slice, hits.rows.slice(begin, count)) for hits in all_hits)
    return [hits for hits in sliced if hits.rows.null_count < count]


class RecordState(Protocol):
    """What slices say of the records that were found in them."""

    def mark_live(self, hits: Hits, keys: pa.StringArray) -> pa.BooleanArray:
        """Return which of the rows that were looked for have their record in the slice still; `keys` are those of all rows."""
        ...

    def mark_not_late(self, rows: pa.Table, file_slice: FileSlice) -> pa.BooleanArray:
        """Return which rows are not late against the records of the slice with their keys; deletes are never late."""
        ...


@dataclass(frozen=True, slots=True)
class StoredRecordState:
    """Reads the slices. `ordering_fields` say which rows are late; without any none is."""

    lookup: LookupContext
    ordering_fields: tuple[str, ...]

    def mark_live(self, hits: Hits, keys: pa.StringArray) -> pa.BooleanArray:
        """See the protocol; slices with logs are read."""
        return mark_live(self.lookup, hits, keys)

    def mark_not_late(self, rows: pa.Table, file_slice: FileSlice) -> pa.BooleanArray:
        """See the protocol; the slice is read where rows may be late."""
        if not self.ordering_fields or DELETE_COLUMN in rows.schema.names:
            return pa.array([True] * rows.num_rows, pa.bool_())
        columns = head_columns(self.ordering_fields)
        incoming = rows.select([RECORD_KEY, *columns])
        stored = live_rows(self.lookup, file_slice, key_array(rows), columns).cast(incoming.schema)
        both = pa.concat_tables([_mark_rows(stored, incoming=False), _mark_rows(incoming, incoming=True)])
        retained = greatest_of_each_key(both, self.ordering_fields)
        winning_keys = retained.filter(retained.column(_ORIGIN)).column(RECORD_KEY)
        return pc.is_in(key_array(rows), value_set=winning_keys.combine_chunks())


class _Routes:
    """Collects where rows go while the partitions of a write are looked at one after the other."""

    def __init__(self, *, positions: bool) -> None:
        self._positions = positions
        self._updates: dict[str, dict[FileSlice, list[pa.Table]]] = defaultdict(lambda: defaultdict(list))
        self._inserts: dict[str, list[pa.Table]] = defaultdict(list)
        self._late: Counter[str] = Counter()

    def update(self, hits: Hits, rows: pa.Table, mask: pa.BooleanArray) -> None:
        """Send those of the rows that are marked to the slice of the hits."""
        chosen = rows.filter(mask)
        self._send(hits.file_slice, with_positions(chosen, hits.rows.filter(mask)) if self._positions else chosen)

    def delete(self, file_slice: FileSlice, rows: pa.Table) -> None:
        """Remove the records of the rows' keys from the slice."""
        self._send(file_slice, deletes_of(key_array(rows)))

    def _send(self, file_slice: FileSlice, rows: pa.Table) -> None:
        if rows.num_rows:
            self._updates[file_slice.group.partition_path][file_slice].append(rows)

    def insert(self, partition_path: str, rows: pa.Table, *, late: int) -> None:
        self._inserts[partition_path].append(rows)
        self._late[partition_path] += late

    def tagged(self) -> list[TaggedRows]:
        empty = next(iter(self._inserts.values()))[0].slice(0, 0)
        return [
            TaggedRows(
                path,
                tuple((file_slice, join_rows(tables)) for file_slice, tables in self._updates[path].items()),
                join_rows(self._inserts.get(path, [empty])),
                self._late[path],
            )
            for path in dict.fromkeys([*self._inserts, *self._updates])
        ]


def _mark_rows(rows: pa.Table, *, incoming: bool) -> pa.Table:
    return rows.append_column(pa.field(_ORIGIN, pa.bool_()), pa.repeat(pa.scalar(incoming), rows.num_rows))
