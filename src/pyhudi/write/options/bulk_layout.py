"""How a bulk insert lays out its rows: in which order, and in how many tasks. Pure.

Rules: `BulkInsertSortMode`, `BulkInsertInternalPartitionerWithRowsFactory`, `RowCustomColumnsSortPartitioner`. A file whose rows are sorted
by a column has a narrow range of its values, by which filters leave files out. Apache Hudi sorts keys as strings; here rows are sorted by
the values of the key fields, and files hold at most as many bytes as `hoodie.parquet.max.file.size` in every mode.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, did_you_mean
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.options.bulk_partitioner import PARTITIONER, BulkInsertPartitioner, find_partitioner

SORT_MODE: Final = "hoodie.bulkinsert.sort.mode"
SORT_COLUMNS: Final = "hoodie.bulkinsert.user.defined.partitioner.sort.columns"
_SUFFIX: Final = "hoodie.bulkinsert.sort.suffix.record_key"
_TASKS: Final = "hoodie.bulkinsert.shuffle.parallelism"


class SortMode(enum.StrEnum):
    """What happens to the rows before they are written."""

    NONE = "NONE"
    GLOBAL_SORT = "GLOBAL_SORT"
    PARTITION_SORT = "PARTITION_SORT"
    PARTITION_PATH_REPARTITION = "PARTITION_PATH_REPARTITION"
    PARTITION_PATH_REPARTITION_AND_SORT = "PARTITION_PATH_REPARTITION_AND_SORT"

    @property
    def sorts(self) -> bool:
        """True when the rows of a file are sorted."""
        return self not in (SortMode.NONE, SortMode.PARTITION_PATH_REPARTITION)

    @property
    def gathers_partitions(self) -> bool:
        """True when all rows of a partition of the table go to one task."""
        return self in (SortMode.PARTITION_PATH_REPARTITION, SortMode.PARTITION_PATH_REPARTITION_AND_SORT)


#: Apache Hudi's partitioners, without package, by what they do.
_PARTITIONERS: Final[Mapping[str, SortMode]] = {
    "RDDCustomColumnsSortPartitioner": SortMode.GLOBAL_SORT,
    "RowCustomColumnsSortPartitioner": SortMode.GLOBAL_SORT,
    "JavaCustomColumnsSortPartitioner": SortMode.GLOBAL_SORT,
    "GlobalSortPartitioner": SortMode.GLOBAL_SORT,
    "GlobalSortPartitionerWithRows": SortMode.GLOBAL_SORT,
    "RDDPartitionSortPartitioner": SortMode.PARTITION_SORT,
    "PartitionSortPartitionerWithRows": SortMode.PARTITION_SORT,
    "PartitionPathRepartitionPartitioner": SortMode.PARTITION_PATH_REPARTITION,
    "PartitionPathRepartitionPartitionerWithRows": SortMode.PARTITION_PATH_REPARTITION,
    "PartitionPathRepartitionAndSortPartitioner": SortMode.PARTITION_PATH_REPARTITION_AND_SORT,
    "PartitionPathRepartitionAndSortPartitionerWithRows": SortMode.PARTITION_PATH_REPARTITION_AND_SORT,
    "NonSortPartitioner": SortMode.NONE,
    "NonSortPartitionerWithRows": SortMode.NONE,
}


@dataclass(frozen=True, slots=True)
class BulkLayout:
    """The layout of a bulk insert.

    `columns` are those that the options name to sort by; `with_key` says that the key fields follow them. `tasks` is the number of Spark
    tasks that write, None for as many as the rows come in. `partitioner` is the user's own, `name` how the options call it.
    """

    mode: SortMode = SortMode.NONE
    columns: tuple[str, ...] = ()
    with_key: bool = False
    tasks: int | None = None
    partitioner: BulkInsertPartitioner | None = None
    name: str = ""

    def order(self, config: TableConfig, known: Collection[str]) -> tuple[str, ...]:
        """Return the columns by which rows are sorted, the partition fields first; none when they are not.

        Args:
            config: the table's properties.
            known: the columns of the rows.

        Raises:
            OptionError: a column that the options name is none of the rows.
        """
        for column in self.columns:
            if column.partition(".")[0] not in known:
                raise OptionError(f"{self._named_by} names the column '{column}', which the rows do not have.{did_you_mean(column, known)}")
        if not self.mode.sorts:
            return ()
        if self.partitioner is not None:
            return (*self.columns, *(config.record_key_fields if self.with_key else ()))
        keys = config.record_key_fields if self.with_key or not self.columns else ()
        if self.mode is SortMode.PARTITION_PATH_REPARTITION_AND_SORT and not self.columns:
            keys = ()
        return tuple(dict.fromkeys(name for name in (*config.partition_fields, *self.columns, *keys) if name.partition(".")[0] in known))

    @property
    def _named_by(self) -> str:
        return SORT_COLUMNS if self.partitioner is None else f"{PARTITIONER}={self.name}"


def bulk_layout(options: Options) -> BulkLayout:
    """Return what the options decide.

    Raises:
        UnsupportedError: the partitioner is neither one of Apache Hudi's that is served, nor registered, nor named as `module:Class`.
        OptionError: the partitioner needs columns to sort by, and none are named; or it cannot be loaded.
    """
    tasks = options.integer(_TASKS) or None
    suffix = options.flag(_SUFFIX)
    mode = SortMode(options.text(SORT_MODE).upper())
    columns = tuple(name.strip() for name in options.text(SORT_COLUMNS).split(",") if name.strip())
    given = options.text(PARTITIONER)
    known = given.rpartition(".")[2]
    if given and known not in _PARTITIONERS:
        return _of_user(given, columns, tasks, with_key=suffix)
    if known:
        mode = _PARTITIONERS[known]
        if "CustomColumns" in known and not columns:
            raise OptionError(f"{PARTITIONER}={known} sorts by the columns of {SORT_COLUMNS}: name some.")
    elif columns and not mode.sorts:
        mode = SortMode.GLOBAL_SORT
    return BulkLayout(mode, columns, suffix, tasks)


def _of_user(name: str, columns: tuple[str, ...], tasks: int | None, *, with_key: bool) -> BulkLayout:
    """Return the layout of a partitioner of the user's own; columns of the options come before its own."""
    partitioner = find_partitioner(name)
    order = tuple(dict.fromkeys((*columns, *partitioner.sort_columns)))
    mode = SortMode.PARTITION_SORT if order else SortMode.NONE
    return BulkLayout(mode, order, with_key, tasks, partitioner, name)
