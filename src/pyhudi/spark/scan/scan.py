"""A snapshot as a DataFrame that is Spark's own vectorised Parquet scan over the exact files.

The plan is the one that `spark.read.parquet` would have, with our list of files in the place of Spark's own listing:
columns are pruned, filters pushed into row groups, partitions left out, `count` answered from footers. A snapshot of a
merge-on-read table is the same scan with a filter upon it. Design: docs/design/0020-spark-scan.md and
docs/design/0061-spark-merge-on-read.md.
"""

from __future__ import annotations

import functools

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import StructType

from pyhudi.read.incremental.incremental import ChangedRows, Written
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.schema.meta_columns import COMMIT_TIME, is_meta_column, with_meta_columns
from pyhudi.spark.jvm import java_code, jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.parquet_options import parquet_options
from pyhudi.spark.jvm.spark_types import spark_schema
from pyhudi.spark.scan.default_partitions import PartitionSet, partition_sets
from pyhudi.spark.scan.explain_hook import remember
from pyhudi.spark.scan.file_index import ScanPart, SnapshotFileIndex, form_columns, merges
from pyhudi.spark.scan.float_sql import with_powers
from pyhudi.spark.scan.partition_columns import partition_columns
from pyhudi.spark.scan.promoted_files import PromotedPart, promoted_parts, quote_name
from pyhudi.spark.scan.row_mask import MASK, row_index_column, without_masked
from pyhudi.spark.scan.schema_versions import VersionPart, version_parts
from pyhudi.spark.scan.skeleton_scan import HIDDEN, Skeletons, has_others, has_skeletons

_DATASOURCES = "org.apache.spark.sql.execution.datasources"


def scan(session: SparkSession, snapshot: Snapshot, merge_folder: str | None = None) -> DataFrame:
    """Return the rows of a snapshot: meta columns first, then the table's columns in their order.

    No file is listed or read before the DataFrame runs, except of tables that may have been widened (`promoted_files`). It stays
    with this snapshot; later commits are seen by a new scan.

    Args:
        session: A classic session; tasks must reach the table's storage under its path.
        snapshot: What to read.
        merge_folder: The option `pyhudi.merge.folder`, if the reader was given one; otherwise the session's setting holds.

    Raises:
        UnsupportedError: a column has a type that Spark does not read, or the JVM cannot reach the storage.
    """
    has_history = history_of(snapshot.schema) is not None
    parts: list[VersionPart | PromotedPart | None] = [*(version_parts(snapshot.schema) if has_history else promoted_parts(snapshot))]
    in_paths = StructType() if _has_values_in_paths_only(snapshot) else _columns_in_paths(snapshot, spark_schema(snapshot.schema))
    sets = partition_sets(snapshot, in_paths)
    frames = [
        _scan_part(session, snapshot, merge_folder, part, partitions, skeletons)
        for part in parts or [None]
        for partitions, skeletons in _scanned_sets(sets, has_skeletons=has_skeletons(snapshot))
    ]
    return functools.reduce(DataFrame.union, reversed(frames))


def _scanned_sets(sets: list[PartitionSet], *, has_skeletons: bool) -> list[tuple[PartitionSet | None, Skeletons]]:
    """Return what is scanned apart: sets of partitions, None for all of them, with the files that are taken of them."""
    if len(sets) == 1:
        return [(None, Skeletons.AMONG if has_skeletons else Skeletons.REFUSED)]
    if not has_skeletons:
        return [(one, Skeletons.REFUSED) for one in sets]
    # Sources of skeletons may have the column in the names of their folders alone.
    return [(None, Skeletons.ALONE), *((one, Skeletons.APART) for one in sets)]


def _columns_in_paths(snapshot: Snapshot, fields: StructType) -> StructType:
    """Return the partition columns whose values Spark takes from the paths."""
    only_in_paths = _has_values_in_paths_only(snapshot)
    in_paths = only_in_paths or snapshot.paths_hold_values
    return partition_columns(fields, snapshot.config, only_in_paths=only_in_paths) if in_paths else StructType()


def _has_values_in_paths_only(snapshot: Snapshot) -> bool:
    """Tell whether files hold no partition columns, or none that count.

    Then there is no other place to look at than the paths, and listing says which path does not hold the values.
    """
    return snapshot.config.drop_partition_columns or snapshot.query.takes_path_values


def _scan_part(
    session: SparkSession,
    snapshot: Snapshot,
    merge_folder: str | None,
    part: ScanPart | None,
    partitions: PartitionSet | None,
    skeletons: Skeletons,
) -> DataFrame:
    """Return the rows of the files of a part, of all files when there is none, with the table's columns of today.

    With a set of partitions it is those that count.
    """
    columns = snapshot.schema if part is None else part.columns
    if snapshot.config.populate_meta_fields:
        columns = with_meta_columns(columns)
    fields = spark_schema(columns)
    in_files = frozenset() if partitions is None else partitions.in_files
    partitioned_by = StructType([field for field in _columns_in_paths(snapshot, fields) if field.name not in in_files])
    missing = [field for field in partitioned_by.fields if field.name not in fields.names]
    index = SnapshotFileIndex(session, snapshot, partitioned_by, merge_folder, part, partitions, skeletons)
    remember(index)
    plan_schema = StructType([*fields.fields, *missing])
    plan = _visible_rows(session, snapshot, index, plan_schema, part, skeletons)
    if isinstance(snapshot, ChangedRows):
        plan = _of_the_span(session, plan, snapshot.written)
    classic = jvm.companion(session, "classic.Dataset")
    frame = DataFrame(classic.ofRows(jvm.jvm_session(session), plan), session)
    if part is None or all(value == quote_name(name) for name, value in part.values):
        return frame
    return with_powers(session, frame, part.floats).select(
        *(F.col(name) for name in plan_schema.names if is_meta_column(name)),
        *(F.expr(value).alias(name) for name, value in part.values),
        *(F.col(f"`{field.name}`") for field in missing),
    )


def _visible_rows(
    session: SparkSession,
    snapshot: Snapshot,
    index: SnapshotFileIndex,
    columns: StructType,
    part: ScanPart | None,
    skeletons: Skeletons,
) -> JavaObject:
    """Return the plan of the rows that count, without the columns that only the scan itself needs."""
    row_index = [row_index_column(session)] if merges(snapshot) else []
    files = _format(session, snapshot, part, skeletons)
    relation = _relation(session, index, StructType([*columns.fields, *row_index]), files, verify=snapshot.query.verifies_pages)
    plan = without_masked(session, relation) if merges(snapshot) else relation
    hidden = [*row_index, *form_columns(part), *(HIDDEN if skeletons.are_read else ()), *([MASK] if merges(snapshot) else [])]
    if not hidden:
        return plan
    return jvm.java_class(session, "org.apache.spark.sql.catalyst.plans.logical.Project")(relation.output().dropRight(len(hidden)), plan)


def _format(session: SparkSession, snapshot: Snapshot, part: ScanPart | None, skeletons: Skeletons) -> JavaObject:
    """Return the format of the files that a scan reads: Spark's own where it reads them right."""
    narrower = StructType() if part is None else part.narrower
    if not narrower.fields and not skeletons.are_read:
        return jvm.java_class(session, f"{_DATASOURCES}.parquet.ParquetFileFormat")()
    others = skeletons is not Skeletons.ALONE and (not skeletons.are_read or has_others(snapshot))
    return java_code.file_format(session, narrower, has_skeletons=skeletons.are_read, has_others=others)


def _of_the_span(session: SparkSession, plan: JavaObject, written: Written) -> JavaObject:
    """Leave out the rows of other commits than those of a span."""
    if written.others and not written.commits:
        return plan
    times = ", ".join(f"'{time}'" for time in sorted(written.commits))
    # From text, and before Spark analyzes the plan: a column is dozens of calls, and `DataFrame.filter` one more analysis.
    wrote = jvm.sql_parser(session).parseExpression(f"{COMMIT_TIME} {'NOT IN' if written.others else 'IN'} ({times})" if times else "false")
    return jvm.java_class(session, "org.apache.spark.sql.catalyst.plans.logical.Filter")(wrote, plan)


def _relation(session: SparkSession, index: SnapshotFileIndex, columns: StructType, files: JavaObject, *, verify: bool) -> JavaObject:
    """Return the logical relation; a column of both schemas keeps its place and takes its value from the path.

    `files` is the format of the files; `verify` compares pages with their CRCs.
    """
    gateway = session.sparkContext._gateway  # noqa: SLF001 - no public name
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    from_json = jvm.java_class(session, "org.apache.spark.sql.types.DataType").fromJson
    relation = jvm.java_class(session, f"{_DATASOURCES}.HadoopFsRelation")(
        java_code.source(session).files(index, index.toString()),
        index.partitionSchema(),
        from_json(columns.json()),
        jvm.some(session, None),
        files,
        jvm.java_class(session, "org.apache.spark.api.python.PythonUtils").toScalaMap(parquet_options(verify=verify)),
        jvm.jvm_session(session),
    )
    is_streaming = False
    return jvm.companion(session, "execution.datasources.LogicalRelation").apply(relation, is_streaming)
