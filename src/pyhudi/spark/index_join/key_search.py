"""Finds the file group of each keyed row by the index that a write asks: places of keys from files or from the record index, and a join.

The rules are those of `pyhudi.index`; what Spark does is to look for all keys at once. Indexes within partitions are here, global ones in
`pyhudi.spark.index_join.partition_updates`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.index.global_index import GlobalIndex
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.metadata_lookup import usable_metadata_table
from pyhudi.index.resolve_index import asks_record_index
from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.index_join.bucket_join import assign_buckets, bucket_labels
from pyhudi.spark.index_join.key_columns import refuse_unmade
from pyhudi.spark.index_join.key_join import STORED_PATH, join_locations, stored_locations
from pyhudi.spark.index_join.partition_updates import TaggedFrame, route_partition_moves
from pyhudi.spark.index_join.record_index_join import record_index_locations
from pyhudi.spark.jvm.persistence import persisted_until
from pyhudi.write.tagging.tag import TagOptions


@dataclass(frozen=True, slots=True)
class KeySearch:
    """How a write finds the file groups of its rows; Spark keeps what it needs until `persisted` is closed.

    The rows are spread over `tasks` tasks by their keys, None for as many as they come in.
    """

    tagging: TagOptions
    lookup: LookupContext
    persisted: contextlib.ExitStack
    tasks: int | None = None

    def locate(self, keyed: DataFrame) -> TaggedFrame:
        """Add the file id of the group that each row goes to, null for a new record; where a bucket begins, how its file id does.

        Raises:
            KeyFieldError: a partition path cannot be made.
        """
        tagging = self.tagging
        if self.tasks is not None:
            keyed = keyed.repartition(self.tasks, PARTITION_PATH, RECORD_KEY)
        if not tagging.looks_up and tagging.layout is None:
            return TaggedFrame(keyed.withColumn(FILE_ID_COLUMN, F.lit(None).cast("string")))
        partitioned = bool(self.lookup.view.config.partition_fields)
        paths = [row[0] for row in keyed.select(PARTITION_PATH).distinct().collect()] if partitioned else [""]
        refuse_unmade(paths)
        if tagging.drop_known:
            new = self._locate_rows(keyed, paths, positions=False)
            keyed = new.rows.filter(F.col(FILE_ID_COLUMN).isNull())
            if tagging.layout is None:
                return replace(new, rows=keyed)
            keyed = keyed.drop(FILE_ID_COLUMN)
        if tagging.layout is not None:
            only_known = tagging.operation.deletes_rows
            labels = bucket_labels(tagging.layout, self.lookup.view, paths, new_groups=tagging.operation.replaces, only_known=only_known)
            return TaggedFrame(assign_buckets(keyed, labels))
        return self._locate_rows(keyed, paths, positions=self.lookup.positions)

    def _locate_rows(self, keyed: DataFrame, paths: Sequence[str], *, positions: bool) -> TaggedFrame:
        """Ask the index; a layout is asked as SIMPLE is."""
        index = self.tagging.index
        if asks_record_index(index):
            keyed = persisted_until(self.persisted, keyed)  # the keys that are asked for must be those that are written
        if isinstance(index, GlobalIndex):
            every = list(self.lookup.view.partition_paths())
            indices = self._stored_locations(keyed, every, in_any_partition=True)
            joined = join_locations(keyed, indices, positions=positions, in_any_partition=True)
            return route_partition_moves(joined, index, self.tagging, replace(self.lookup, positions=positions), self.persisted)
        indices = self._stored_locations(keyed, paths, in_any_partition=False)
        return TaggedFrame(join_locations(keyed, indices, positions=positions), paths=frozenset(paths))

    def _stored_locations(self, keyed: DataFrame, paths: Sequence[str], *, in_any_partition: bool) -> DataFrame | None:
        if asks_record_index(self.tagging.index):
            known = record_index_locations(keyed, self.lookup, self.persisted, in_any_partition=in_any_partition)
            if known is not None:
                return known if in_any_partition or self._is_exact else self._add_missing_locations(known, keyed)
        return stored_locations(keyed.sparkSession, paths, self.lookup)

    @property
    def _is_exact(self) -> bool:
        """True where a partition has no key that the record index does not know in it."""
        config = self.lookup.view.config
        return not config.partition_fields or usable_metadata_table(self.lookup, RECORD_INDEX).is_by_partition

    def _add_missing_locations(self, known: DataFrame, keyed: DataFrame) -> DataFrame:
        """Add the places of keys that the index does not know in the row's partition; see `RecordIndexLookup`."""
        known_keys = known.withColumnRenamed(STORED_PATH, PARTITION_PATH)
        missing_keys = (
            keyed.select(PARTITION_PATH, RECORD_KEY)
            .join(known_keys, [PARTITION_PATH, RECORD_KEY], "left_anti")
            .distinct()
            .withColumnRenamed(PARTITION_PATH, STORED_PATH)
        )
        others = persisted_until(self.persisted, missing_keys)
        paths = [row[0] for row in others.select(STORED_PATH).distinct().collect()]
        if not paths:
            return known
        stored = stored_locations(keyed.sparkSession, paths, self.lookup)
        return known if stored is None else known.unionByName(stored.join(others, [STORED_PATH, RECORD_KEY], "left_semi"))
