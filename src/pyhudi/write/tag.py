"""Keyed rows to tagged rows: one row a key where the operation asks for it, and the index's answer where it needs one.

Rules: `HoodieWriteHelper` (combining before writing), `SparkUpsertCommitActionExecutor` and its siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.errors import UnsupportedError
from pyhudi.index.protocol import Index, Lookup
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file import TableShape
from pyhudi.kernels.dedupe import combine, last_of_each_key
from pyhudi.kernels.keyed_rows import live_rows
from pyhudi.spec.commit import Operation
from pyhudi.write.prepare import require_unique
from pyhudi.write.split import split_by_partition


@dataclass(frozen=True, slots=True)
class Tagging:
    """How an operation treats its rows.

    `combine` keeps one row of each key of the data, `drop_known` leaves out rows whose key the table holds already.
    """

    operation: Operation
    index: Index
    combine: bool
    combine_option: str
    drop_known: bool = False

    @property
    def looks_up(self) -> bool:
        """True when the index is asked where the keys live."""
        return self.drop_known or self.operation in (Operation.UPSERT, Operation.DELETE)


def tag_rows(keyed: pa.Table, tagging: Tagging, shape: TableShape, lookup: Lookup) -> list[TaggedRows]:
    """Return the rows by where they go; `keyed` holds record key, partition path and data.

    Raises:
        KeyFieldError: a key stands twice in the data of an upsert that was told not to combine them.
        UnsupportedError: as `check_moves` says.
    """
    check_moves(tagging, lookup)
    within_partition = not (tagging.index.is_global and tagging.looks_up)
    if tagging.combine:
        if tagging.operation is Operation.DELETE:
            keyed = last_of_each_key(keyed, within_partition=within_partition)
        else:
            keyed = combine(keyed, shape, within_partition=within_partition)
    elif tagging.operation is Operation.UPSERT:
        require_unique(keyed, tagging.combine_option)
    parts = split_by_partition(keyed)
    if not tagging.looks_up:
        return [TaggedRows(part.partition_path, (), part.rows) for part in parts]
    tagged = tagging.index.tag(parts, lookup)
    if tagging.drop_known:
        return [replace(part, updates=()) for part in tagged if part.inserts.num_rows]
    return without_void_inserts(tagged, shape)


def check_moves(tagging: Tagging, lookup: Lookup) -> None:
    """Refuse what would lose values: a record that moves to another partition leaves those behind that its new version does not bring.

    Raises:
        UnsupportedError: the table fills rows from earlier versions, and the index may move them.
    """
    shape, config = lookup.shape, lookup.view.config
    if shape.mixes_versions and tagging.index.is_global and tagging.operation is Operation.UPSERT and config.partition_fields:
        raise UnsupportedError(
            f"Table {config.name} makes rows of several versions, and the index {tagging.index.name} may move a row to another partition, "
            "away from its earlier versions: that is not served. Take an index that looks within the partition, such as "
            "hoodie.index.type=SIMPLE."
        )


def without_void_inserts(tagged: Sequence[TaggedRows], shape: TableShape) -> list[TaggedRows]:
    """Leave out deletes of records that are not there, and partitions that get nothing."""
    kept = (replace(part, inserts=live_rows(part.inserts, shape)) for part in tagged)
    return [part for part in kept if part.updates or part.inserts.num_rows or part.late]
