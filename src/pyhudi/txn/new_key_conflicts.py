"""Whether two writes that ran side by side have both inserted a record of one key.

Neither of them finds the other's record, and they put theirs into different file groups, so that nothing else would notice: the table would
hold the key twice. Apache Hudi has no such check (docs/differences.md). Tables with a bucket index need none: the key says which bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.log_inserts import keys_in_logs
from pyhudi.kernels.base_file.parquet_input import open_fragment
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.schema.meta_columns import COMMIT_TIME, RECORD_KEY
from pyhudi.spec.actions.commit import Operation, WriteStat
from pyhudi.spec.files.file_group import FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.instant import Instant
from pyhudi.spec.visibility import Visibility
from pyhudi.timeline.commit_search import search_for
from pyhudi.txn.completing_write import KeyScope
from pyhudi.txn.locked_table import TableState
from pyhudi.txn.write_conflicts import ComparedWrite, conflict_error

#: What writes no record that was not there before.
_MOVES_RECORDS = frozenset({Operation.CLUSTER.value, Operation.COMPACT.value, Operation.LOG_COMPACT.value, Operation.ALTER_SCHEMA.value})


def check_new_keys(now: TableState, mine: ComparedWrite, others: Iterable[Instant], scope: KeyScope) -> None:
    """Refuse to complete a write whose new records others have inserted meanwhile.

    Raises:
        WriteConflictError: names the other write and a key.
    """
    mine_inserted = _Inserted(now, mine.requested, mine.stats, scope)
    if not mine_inserted.paths:
        return
    search = search_for(mine_inserted.paths)
    for other in others:
        metadata = search.load(now.storage, now.config, now.timeline, other)
        if metadata is None or metadata.operation in _MOVES_RECORDS:
            continue
        theirs = _Inserted(now, other.requested, metadata.all_stats(), scope)
        for path in sorted(mine_inserted.paths & theirs.paths):
            _check(now, mine, other, mine_inserted.keys(path), theirs.keys(path))


def _check(now: TableState, mine: ComparedWrite, other: Instant, ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> None:
    both = ours.filter(pc.is_in(ours, value_set=theirs.combine_chunks()))
    if len(both):
        raise conflict_error(now.storage.uri, mine.requested, other, f"inserted the record key '{both[0].as_py()}' too")


class _Inserted:
    """The keys of the records that a write wrote to files with new records, by the part of the table in which a key may be once."""

    def __init__(self, now: TableState, requested: str, stats: Iterable[WriteStat], scope: KeyScope) -> None:
        self._now, self._requested, self._scope = now, requested, scope
        self._stats: dict[str, list[WriteStat]] = {}
        for stat in stats:
            if stat.path and stat.file_id and stat.num_inserts:
                self._stats.setdefault("" if scope.is_global else stat.partition_path or "", []).append(stat)
        self._keys: dict[str, pa.ChunkedArray] = {}

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self._stats)

    def keys(self, path: str) -> pa.ChunkedArray:
        if path not in self._keys:
            self._keys[path] = pa.chunked_array([chunk for stat in self._stats[path] for chunk in self._of_file(stat)], pa.string())
        return self._keys[path]

    def _of_file(self, stat: WriteStat) -> Iterator[pa.Array]:
        storage, path = self._now.storage, stat.path or ""
        partition_path, _, name = path.rpartition("/")
        log = parse_log_file_name(name)
        if log is not None:
            group = FileGroupId(partition_path, stat.file_id or "")
            file_slice = FileSlice(group, log.instant, None, (LogFile(partition_path, log, stat.file_size_in_bytes),))
            visibility = Visibility(frozenset({self._requested}))
            yield keys_in_logs(storage, self._scope.context, SliceTask(file_slice, visibility, self._now.config.layout, (RECORD_KEY,)))
            return
        with open_fragment(storage, path) as fragment:
            written = pc.field(COMMIT_TIME) == self._requested
            for batch in fragment.scanner(columns=[RECORD_KEY], filter=written).to_batches():
                yield batch.column(0).cast(pa.string())
