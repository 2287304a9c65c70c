"""What a reader asks of a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from pyhudi.errors import OptionError
from pyhudi.read.snapshot.path_scope import PathScope
from pyhudi.read.snapshot.unused_indexes import unused_indexes
from pyhudi.spec.options import Options

QUERY_TYPE: Final = "hoodie.datasource.query.type"
AS_OF: Final = "as.of.instant"
METADATA_TABLE: Final = "hoodie.metadata.enable"
DATA_SKIPPING: Final = "hoodie.enable.data.skipping"
VERIFY_CHECKSUMS: Final = "pyhudi.read.verify.checksums"
MERGE_SIZE: Final = "hoodie.memory.merge.max.size"
MERGE_TYPE: Final = "hoodie.datasource.merge.type"
PATH_VALUES: Final = "hoodie.datasource.read.extract.partition.values.from.path"
#: A read that shows file slices or instants in place of rows.
SHOWS_SLICES: Final = "hoodie.datasource.read.create.filesystem.relation"
SHOWS_INSTANTS: Final = "hoodie.datasource.read.table.valued.function.timeline.relation"

QueryType: TypeAlias = Literal["snapshot", "read_optimized"]

#: Default of `hoodie.memory.merge.max.size`.
MERGE_BYTES: Final = 128 << 20
#: Less is taken as this: the parts of a slice read its logs once each, and a part a row would read them without end.
LEAST_MERGE_BYTES: Final = 1 << 20
#: So many slices are merged at a time in one process.
THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class SnapshotQuery:
    """One state of a table.

    `mode` read_optimized leaves log files out. `as_of` is a time in any form that `pyhudi.timeline.clock.parse_time`
    takes; None means now. `use_metadata_table` is `hoodie.metadata.enable`: files are found by the metadata table, if there is one;
    `skips_data` is `hoodie.enable.data.skipping`: its indexes rule out files that a filter does not need.
    Logs of `merge_bytes` are merged at once. `verifies_pages` is `pyhudi.read.verify.checksums`, of log files too. Without `merges_logs`
    (`hoodie.datasource.merge.type=skip_merge`) the rows of log files come next to those of base files. `scope` leaves partitions out.
    `takes_path_values` is `hoodie.datasource.read.extract.partition.values.from.path`. Indexes whose names begin with one of
    `unused_indexes` rule nothing out.
    """

    mode: QueryType = "snapshot"
    as_of: str | datetime | None = None
    use_metadata_table: bool = True
    skips_data: bool = True
    merge_bytes: int = MERGE_BYTES
    verifies_pages: bool = True
    merges_logs: bool = True
    scope: PathScope | None = None
    takes_path_values: bool = False
    unused_indexes: frozenset[str] = frozenset()

    @property
    def shows_all_rows(self) -> bool:
        """Whether the query shows each record of the table once, as it is stored."""
        return self.mode == "snapshot" and self.merges_logs and self.scope is None and not self.takes_path_values

    @property
    def slice_bytes(self) -> int:
        """The bytes of logs of one slice that are merged at once: a slice with more is merged in parts."""
        return max(1, self.merge_bytes // THREADS)


def check_reads_rows(options: Options) -> None:
    """Refuse options that ask for file slices or instants in place of rows.

    Raises:
        OptionError: names the option, and where it is served.
    """
    for name, function in ((SHOWS_SLICES, "hudi_filesystem_view"), (SHOWS_INSTANTS, "hudi_query_timeline")):
        if options.flag(name):
            raise OptionError(f"{name} is for spark.read.format('hudi').load(path); elsewhere {function}('table') of SQL shows the same.")


def merge_size(options: Options, *, default: int | None = None) -> int:
    """Return how many bytes of rows are merged or sorted at once: what the option says, or another default than its own."""
    return max(LEAST_MERGE_BYTES, options.integer(MERGE_SIZE, default=default))


def snapshot_query(options: Options) -> SnapshotQuery:
    """Return what options say of reading one state of a table; the query type incremental is not asked for here.

    Raises:
        OptionError: they ask for file slices or instants, which no query of rows shows.
    """
    check_reads_rows(options)
    return SnapshotQuery(
        "read_optimized" if options.text(QUERY_TYPE).strip().lower() == "read_optimized" else "snapshot",
        options.get(AS_OF),
        use_metadata_table=options.flag(METADATA_TABLE),
        skips_data=options.flag(DATA_SKIPPING),
        merge_bytes=merge_size(options),
        verifies_pages=options.flag(VERIFY_CHECKSUMS),
        merges_logs=options.text(MERGE_TYPE).strip().lower() != "skip_merge",
        takes_path_values=options.flag(PATH_VALUES),
        unused_indexes=unused_indexes(options),
    )
