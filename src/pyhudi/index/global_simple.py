"""The index GLOBAL_SIMPLE: a key lives once in the table; the key columns of all base files tell where.

Rules: `HoodieGlobalSimpleIndex`, `HoodieIndexUtils.mergeForPartitionUpdatesIfNeeded`. A record that is found in another
partition than its row names is moved there (`hoodie.simple.index.update.partition.path`, the default) or updated where
it is. Under event time a late row moves nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.probe import ProbeTask, probe
from pyhudi.index.protocol import Lookup
from pyhudi.index.rows import PartitionRows, TaggedRows, deletes_of, join_rows, key_array
from pyhudi.kernels.dedupe import combine
from pyhudi.kernels.incoming import DELETE_COLUMN
from pyhudi.kernels.read_base import read_base_file
from pyhudi.merge.mode import MergeMode
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.file_group import BaseFile
from pyhudi.storage.protocol import Storage

_ORIGIN = "_pyhudi_incoming"


@dataclass(frozen=True, slots=True)
class GlobalSimpleIndex:
    """Looks in all partitions. `move` says what happens to a record that is found in another partition than its row
    names.
    """

    ordering_fields: tuple[str, ...] = ()
    merge_mode: MergeMode = MergeMode.COMMIT_TIME_ORDERING
    move: bool = True

    @property
    def name(self) -> str:
        """`GLOBAL_SIMPLE`."""
        return "GLOBAL_SIMPLE"

    @property
    def is_global(self) -> bool:
        """True: a key lives once in the table."""
        return True

    def tag(self, parts: Sequence[PartitionRows], lookup: Lookup) -> list[TaggedRows]:
        """Return the rows by where they go; see the protocol."""
        files = [file for path in lookup.view.partition_paths() for file in lookup.view.latest_base_files(path)]
        if not files:
            return [TaggedRows(part.partition_path, (), part.rows) for part in parts]
        keys = [key_array(part.rows) for part in parts]
        masks = iter(probe(lookup, [ProbeTask(file, some) for some in keys for file in files]))
        routes = _Routes()
        for part in parts:
            found = zip(files, itertools.islice(masks, len(files)), strict=True)
            self._route(part, [(file, mask) for file, mask in found if pc.any(mask).as_py()], lookup.storage, routes)
        return routes.tagged()

    def _route(self, part: PartitionRows, found: Sequence[tuple[BaseFile, pa.BooleanArray]], storage: Storage, routes: _Routes) -> None:
        settled = late = pa.repeat(pa.scalar(False), part.rows.num_rows)
        for file, mask in found:
            rows = part.rows.filter(mask)
            if file.partition_path == part.partition_path or not self.move:
                routes.update(file, rows)
                settled = pc.or_(settled, mask)
            else:
                winners = self._winners(rows, file, storage)
                routes.update(file, deletes_of(key_array(rows.filter(winners))))
                late = pc.or_(late, pc.replace_with_mask(mask, mask, pc.invert(winners)))
        new = pc.invert(pc.or_(settled, late))
        routes.insert(part.partition_path, part.rows.filter(new), late=pc.sum(late).as_py() or 0)

    def _winners(self, rows: pa.Table, file: BaseFile, storage: Storage) -> pa.BooleanArray:
        """Return which rows are not late against the records of the file; deletes are never late."""
        everyone = pa.array([True] * rows.num_rows, pa.bool_())
        by_event_time = self.merge_mode is MergeMode.EVENT_TIME_ORDERING and self.ordering_fields
        if not by_event_time or DELETE_COLUMN in rows.schema.names:
            return everyone
        names = [RECORD_KEY, *self.ordering_fields]
        incoming = rows.select(names)
        stored = read_base_file(storage, file, rows.schema, names)
        stored = stored.filter(pc.is_in(stored.column(RECORD_KEY), value_set=key_array(rows))).cast(incoming.schema)
        both = pa.concat_tables([_marked(stored, incoming=False), _marked(incoming, incoming=True)])
        kept = combine(both, self.ordering_fields, self.merge_mode)
        winning = kept.filter(kept.column(_ORIGIN)).column(RECORD_KEY)
        return pc.is_in(key_array(rows), value_set=winning.combine_chunks())


class _Routes:
    """Collects where rows go while the partitions of a write are looked at one after the other."""

    def __init__(self) -> None:
        self._updates: dict[str, dict[BaseFile, list[pa.Table]]] = defaultdict(lambda: defaultdict(list))
        self._inserts: dict[str, list[pa.Table]] = defaultdict(list)
        self._late: Counter[str] = Counter()

    def update(self, file: BaseFile, rows: pa.Table) -> None:
        if rows.num_rows:
            self._updates[file.partition_path][file].append(rows)

    def insert(self, partition_path: str, rows: pa.Table, *, late: int) -> None:
        self._inserts[partition_path].append(rows)
        self._late[partition_path] += late

    def tagged(self) -> list[TaggedRows]:
        empty = next(iter(self._inserts.values()))[0].slice(0, 0)
        return [
            TaggedRows(
                path,
                tuple((file, join_rows(tables)) for file, tables in self._updates[path].items()),
                join_rows(self._inserts.get(path, [empty])),
                self._late[path],
            )
            for path in dict.fromkeys([*self._inserts, *self._updates])
        ]


def _marked(rows: pa.Table, *, incoming: bool) -> pa.Table:
    return rows.append_column(pa.field(_ORIGIN, pa.bool_()), pa.repeat(pa.scalar(incoming), rows.num_rows))
