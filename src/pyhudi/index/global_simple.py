"""Indexes of which a key lives once in the table: GLOBAL_SIMPLE, GLOBAL_BLOOM, GLOBAL_RECORD_LEVEL_INDEX, which find it in different ways.

Rules: `HoodieGlobalSimpleIndex`, `HoodieIndexUtils.mergeForPartitionUpdatesIfNeeded`. A record that is found in another
partition than its row names is moved there or updated where it is (`hoodie.*.index.update.partition.path`). Under event time a
late row moves nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.probe import KeyScan
from pyhudi.index.protocol import Finder, Hits, Lookup, Wanted
from pyhudi.index.rows import PartitionRows, TaggedRows, deletes_of, join_rows, key_array, with_positions
from pyhudi.index.standing import of_standing_records, standing, standing_rows
from pyhudi.kernels.dedupe import greatest_of_each_key
from pyhudi.kernels.incoming import DELETE_COLUMN
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.file_group import FileSlice
from pyhudi.spec.merge_mode import MergeMode

_ORIGIN = "_pyhudi_incoming"


@dataclass(frozen=True, slots=True)
class GlobalIndex:
    """Looks in all partitions; `name` is the value of `hoodie.index.type`. `move` says what happens to a record that is found in
    another partition than its row names.
    """

    name: str = "GLOBAL_SIMPLE"
    finder: Finder = field(default_factory=KeyScan)
    ordering_fields: tuple[str, ...] = ()
    merge_mode: MergeMode = MergeMode.COMMIT_TIME_ORDERING
    move: bool = True

    @property
    def is_global(self) -> bool:
        """True: a key lives once in the table."""
        return True

    def tag(self, parts: Sequence[PartitionRows], lookup: Lookup) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol."""
        found = self.finder.find([Wanted(key_array(part.rows)) for part in parts], lookup)
        routes = _Routes()
        for part, hits in zip(parts, found, strict=True):
            self._route(part, hits, lookup, routes)
        return routes.tagged()

    def _route(self, part: PartitionRows, found: Sequence[Hits], lookup: Lookup, routes: _Routes) -> None:
        """Send the rows of one partition where their records stand; what a log has deleted or moved away stands nowhere."""
        keys = key_array(part.rows)
        here = of_standing_records(lookup, [hits for hits in found if hits.piece.group.partition_path == part.partition_path], keys)
        elsewhere = [hits for hits in found if hits.piece.group.partition_path != part.partition_path]
        settled = late = pa.repeat(pa.scalar(False), part.rows.num_rows)
        for hits in elsewhere:
            mask = standing(lookup, hits, keys)
            if not self.move:
                routes.update(hits.piece, _updates(part.rows, hits, mask, lookup))
                settled = pc.or_(settled, mask)
            else:
                rows = part.rows.filter(mask)
                winners = self._winners(rows, hits.piece, lookup)
                routes.update(hits.piece, deletes_of(key_array(rows.filter(winners))))
                late = pc.or_(late, pc.replace_with_mask(mask, mask, pc.invert(winners)))
        taken = pc.or_(settled, late)
        for hits in here:
            mask = hits.rows.is_valid()
            if pc.any(pc.and_(mask, taken)).as_py():
                mask = pc.or_(standing(lookup, hits, keys), pc.and_(mask, pc.invert(taken)))
            routes.update(hits.piece, _updates(part.rows, hits, mask, lookup))
            settled = pc.or_(settled, mask)
        new = pc.invert(pc.or_(settled, late))
        routes.insert(part.partition_path, part.rows.filter(new), late=pc.sum(late).as_py() or 0)

    def _winners(self, rows: pa.Table, piece: FileSlice, lookup: Lookup) -> pa.BooleanArray:
        """Return which rows are not late against the records of the slice; deletes are never late."""
        everyone = pa.array([True] * rows.num_rows, pa.bool_())
        by_event_time = self.merge_mode is MergeMode.EVENT_TIME_ORDERING and self.ordering_fields
        if not by_event_time or DELETE_COLUMN in rows.schema.names:
            return everyone
        incoming = rows.select([RECORD_KEY, *self.ordering_fields])
        stored = standing_rows(lookup, piece, key_array(rows), self.ordering_fields).cast(incoming.schema)
        both = pa.concat_tables([_marked(stored, incoming=False), _marked(incoming, incoming=True)])
        kept = greatest_of_each_key(both, self.ordering_fields)
        winning = kept.filter(kept.column(_ORIGIN)).column(RECORD_KEY)
        return pc.is_in(key_array(rows), value_set=winning.combine_chunks())


def _updates(rows: pa.Table, hits: Hits, mask: pa.BooleanArray, lookup: Lookup) -> pa.Table:
    chosen = rows.filter(mask)
    return with_positions(chosen, hits.rows.filter(mask)) if lookup.positions else chosen


class _Routes:
    """Collects where rows go while the partitions of a write are looked at one after the other."""

    def __init__(self) -> None:
        self._updates: dict[str, dict[FileSlice, list[pa.Table]]] = defaultdict(lambda: defaultdict(list))
        self._inserts: dict[str, list[pa.Table]] = defaultdict(list)
        self._late: Counter[str] = Counter()

    def update(self, piece: FileSlice, rows: pa.Table) -> None:
        if rows.num_rows:
            self._updates[piece.group.partition_path][piece].append(rows)

    def insert(self, partition_path: str, rows: pa.Table, *, late: int) -> None:
        self._inserts[partition_path].append(rows)
        self._late[partition_path] += late

    def tagged(self) -> list[TaggedRows]:
        empty = next(iter(self._inserts.values()))[0].slice(0, 0)
        return [
            TaggedRows(
                path,
                tuple((piece, join_rows(tables)) for piece, tables in self._updates[path].items()),
                join_rows(self._inserts.get(path, [empty])),
                self._late[path],
            )
            for path in dict.fromkeys([*self._inserts, *self._updates])
        ]


def _marked(rows: pa.Table, *, incoming: bool) -> pa.Table:
    return rows.append_column(pa.field(_ORIGIN, pa.bool_()), pa.repeat(pa.scalar(incoming), rows.num_rows))
