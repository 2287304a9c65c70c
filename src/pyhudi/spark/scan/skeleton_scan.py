"""A scan of the skeletons of a bootstrapped table: Spark's own scan of their source files, and the meta columns computed beside it.

Rules: RFC-12; docs/format/bootstrap.md#reading. The source files take the place of the skeletons in the scan, so that columns are
pruned and filters pushed as for any other file; nothing is shuffled. Commit time, partition path and file name are the same for all
rows of a skeleton. Record keys and sequence numbers are read from the skeleton, by the row index that Spark's Parquet reader gives,
inside tasks, and only where a query asks for them. Design: docs/design/0118-bootstrapped-tables.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import StringType, StructField

from pyhudi.cache import LruCache
from pyhudi.errors import UnsupportedError
from pyhudi.fsview.bootstrap_index import source_of
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.kernels.base_file.stitched_rows import folder_values, source_file
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spark.scan.promoted_files import PromotedPart, quote_name
from pyhudi.spark.scan.row_mask import row_index_column
from pyhudi.spark.scan.schema_versions import VersionPart
from pyhudi.spec.files.bootstrap_source import METADATA_BOOTSTRAP, is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.table.table_keys import BOOTSTRAP_BASE_PATH
from pyhudi.storage.storage_protocol import Storage

#: The partition columns of a scan of skeletons: the name of the skeleton, and the path of its partition.
SKELETON: Final = StructField("_pyhudi_skeleton", StringType(), nullable=False)
PARTITION: Final = StructField("_pyhudi_partition", StringType(), nullable=False)
_Inner: TypeAlias = VersionPart | PromotedPart | None
#: Meta columns of skeletons that this process reads, by table, path and column.
_VALUES: LruCache[tuple[str, str, str], pa.ChunkedArray] = LruCache(256 << 20, lambda values: int(values.nbytes) + 1)


@dataclass(frozen=True, slots=True)
class BootstrapPart:
    """The skeletons of a part of a scan, or its other files; `inner` is the part, None for all files of the table."""

    table_columns: pa.Schema
    inner: _Inner
    of_skeletons: bool

    @property
    def columns(self) -> pa.Schema:
        """The data columns as the files have them."""
        return self.table_columns if self.inner is None else self.inner.columns

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """SQL for each of the table's columns."""
        if self.inner is None:
            return tuple((name, quote_name(name)) for name in self.table_columns.names)
        return self.inner.values

    @property
    def floats(self) -> tuple[str, ...]:
        """SQL of the floats for which `values` needs `with_powers`."""
        return () if self.inner is None else self.inner.floats

    @property
    def is_today(self) -> bool:
        """Whether rows merged from log files are with this part."""
        return not self.of_skeletons and (self.inner is None or self.inner.is_today)

    @property
    def identity(self) -> str:
        """A text that differs between the parts of a table."""
        return f"{'skeletons' if self.of_skeletons else 'others'} {'' if self.inner is None else self.inner.identity}"

    def holds(self, file: BaseFile) -> bool:
        """Tell whether a file belongs to the part."""
        return is_skeleton(file.name.instant) == self.of_skeletons and (self.inner is None or self.inner.holds(file))


def bootstrap_parts(snapshot: Snapshot, parts: list[_Inner]) -> list[BootstrapPart | _Inner]:
    """Return the parts of a scan, each parted into skeletons and other files where the table may have skeletons.

    The part of today stays the last one.
    """
    is_bootstrapped = bool(snapshot.config.properties.get(BOOTSTRAP_BASE_PATH))
    if not is_bootstrapped or not snapshot.timeline.visibility.is_visible(METADATA_BOOTSTRAP):
        return [*parts]
    columns = snapshot.schema.remove_metadata()
    return [BootstrapPart(columns, part, of_skeletons) for part in parts for of_skeletons in (True, False)]


def scanned_source(storage: Storage, skeleton: BaseFile, schema: pa.Schema, in_paths: frozenset[str]) -> tuple[str, int, int]:
    """Return URI, size and time of the file that is scanned in the place of a skeleton.

    Raises:
        CorruptTableError: the source file is missing or has changed.
        UnsupportedError: its folders name the values of a column that is no partition column of the table.
    """
    source = source_of(storage, skeleton)
    file = source_file(storage, skeleton, source)
    in_folders = sorted(folder_values(file, source, schema).keys() - in_paths)
    if in_folders:
        raise UnsupportedError(
            f"column '{in_folders[0]}' of the bootstrapped table at {storage.uri} has its values in the folders of {source.uri} only, and"
            " is no partition column of the table: read it without Spark, with HudiTable.to_arrow"
        )
    return source.uri, source.size, source.modified_ms


def meta_columns(session: SparkSession, frame: DataFrame, storage: Storage) -> list[Column]:
    """Return the meta columns of a scan of skeletons, whose frame has the row index and the two partition columns.

    Args:
        session: the session of the frame.
        frame: the rows of the source files.
        storage: the table's storage; tasks open the skeletons with it.
    """
    row = frame[f"`{row_index_column(session).name}`"]

    def constant(field: StructField) -> Column:
        # Not the bare partition column: Spark would hand filters on it to the file index, which knows the table's partition columns only.
        return F.when(row >= 0, frame[f"`{field.name}`"])

    def stored(column: str) -> Column:
        def of_batch(partitions: pa.Array, files: pa.Array, rows: pa.Array) -> pa.Array:
            return _stored_values(storage, column, partitions, files, rows)

        # The kind of the function comes from its hints, which the stubs do not know of.
        made: Column = arrow_udf(of_batch, "string")(frame[f"`{PARTITION.name}`"], frame[f"`{SKELETON.name}`"], row)  # type: ignore[call-overload]
        return made

    return [
        F.lit(METADATA_BOOTSTRAP).alias(COMMIT_TIME),
        stored(COMMIT_SEQNO).alias(COMMIT_SEQNO),
        stored(RECORD_KEY).alias(RECORD_KEY),
        constant(PARTITION).alias(PARTITION_PATH),
        constant(SKELETON).alias(FILE_NAME),
    ]


def _stored_values(storage: Storage, column: str, partitions: pa.Array, files: pa.Array, rows: pa.Array) -> pa.Array:
    """Return a meta column of rows of skeletons; the rows of a batch are of one file, or of few."""
    paths = pc.binary_join_element_wise(partitions, files, "/").dictionary_encode()
    if len(paths.dictionary) == 1:
        return _column(storage, paths.dictionary[0].as_py(), column).take(rows).combine_chunks()
    result = pa.nulls(len(rows), pa.string())
    for number, path in enumerate(paths.dictionary.to_pylist()):
        is_here = pc.equal(paths.indices, number)
        values = _column(storage, path, column).take(rows.filter(is_here)).combine_chunks()
        result = pc.replace_with_mask(result, is_here, values)
    return result


def _column(storage: Storage, path: str, column: str) -> pa.ChunkedArray:
    key = (storage.uri, path, column)
    known = _VALUES.get(key)
    if known is None:
        partition_path, _, name = path.rpartition("/")
        parsed = parse_base_file_name(name)
        assert parsed is not None, "the scan named it"
        skeleton = BaseFile(partition_path, parsed, size=0)
        batches = iter_base_file(storage, skeleton, pa.schema([]), [column])
        known = pa.chunked_array([batch.column(0) for batch in batches], pa.string())
        _VALUES.put(key, known)
    return known
