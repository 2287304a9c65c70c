"""Plans the rewriting of file groups of a table. The caller holds the table's lock and has rolled back what failed writers left.

Rules: `ClusteringPlanActionExecutor`, `PartitionAwareClusteringPlanStrategy`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence

import pyarrow as pa

from pyhudi.codec.parquet.footer_reader import FooterReader
from pyhudi.errors import OptionError, UnsupportedError, did_you_mean
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_numbers import names_buckets
from pyhudi.index.consistent_hashing import uses_consistent_hashing
from pyhudi.kernels.arrays.space_curves import Layout
from pyhudi.kernels.base_file.stored_groups import copied_schema
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.service.clustering.commit_based_plan import CHECKPOINT, WrittenGroups, plan_commits
from pyhudi.service.clustering.rewrite_plan import RewritePlan, parse_plan, plan_groups, render_plan
from pyhudi.service.clustering.rewrite_settings import LAYOUT, SORT_COLUMNS, RewriteSettings
from pyhudi.service.compaction.pending_compactions import busy_groups
from pyhudi.spec.actions.clustering import ClusteringPlan
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import zone_of
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.pending_clustering import clustering_plan
from pyhudi.txn.locked_table import LockedTable


def plan_rewrite(table: LockedTable, schema: pa.Schema, settings: RewriteSettings, default_base_bytes: int) -> RewritePlan | None:
    """Return what would be put on the timeline now; None when there is nothing to rewrite.

    Args:
        table: the table.
        schema: its data columns.
        settings: what the options say.
        default_base_bytes: the size to expect of a base file where there is none yet.

    Raises:
        UnsupportedError: the file groups of the table are buckets of keys.
        OptionError: a sort column does not exist, or its type has no order.
    """
    check_sort_columns(settings.sort_columns, schema, table.config)
    view = open_view(table.storage, table.config, table.timeline)
    busy = busy_groups(table)
    paths = settings.partitions.apply(view.partition_paths(), table.clock.now().astimezone(zone_of(table.config.timeline_zone)).hour)
    if settings.only_changed and settings.after_commit is None:
        clustered = _clustered_since_last_write(table, view, settings)
        paths = [path for path in paths if path not in clustered]
    if settings.after_commit is not None:
        return _plan_commits(table, view, settings, paths, busy, default_base_bytes)
    groups: list[tuple[list[FileSlice], int]] = []
    missing: list[str] = []
    for path in paths:
        slices = [one for one in view.latest_slices(path) if one.group not in busy]
        _check_no_buckets(view, slices)
        parts = _by_schema(table.storage, slices, settings.small_bytes) if settings.one_schema else [slices]
        planned = [group for part in parts for group in plan_groups(part, settings, default_base_bytes)]
        room = settings.most_groups - len(groups)
        if len(planned) > room:
            missing.append(path)
        groups += planned[:room]
    return parse_plan(render_plan(groups, missing, settings, table.storage.uri, default_base_bytes)) if groups else None


def _by_schema(storage: Storage, slices: Sequence[FileSlice], small_bytes: int) -> list[list[FileSlice]]:
    """Return slices in parts of one schema each; base files of `small_bytes` and more are not planned, and not looked at.

    Apache Hudi begins a new group where the schema changes from one file to the next; here files of one schema are brought together.
    """
    parts: dict[Hashable, list[FileSlice]] = defaultdict(list)
    footers = FooterReader()
    for one in slices:
        is_read = one.base is not None and one.base.size < small_bytes
        parts[copied_schema(storage, one.base.path, footers) if one.base is not None and is_read else None].append(one)
    return [*parts.values()]


def _plan_commits(
    table: LockedTable,
    view: FileSystemView,
    settings: RewriteSettings,
    paths: Collection[str],
    busy: Collection[FileGroupId],
    default_base_bytes: int,
) -> RewritePlan | None:
    """Return the plan for what commits wrote after `settings.after_commit`; see `plan_commits`."""
    latest: dict[FileGroupId, FileSlice] = {}
    for path in paths:
        slices = view.latest_slices(path)
        _check_no_buckets(view, slices)
        latest.update((one.group, one) for one in slices)
    earliest = settings.after_commit or ""
    plan = plan_commits(_commits_after(table, earliest), latest, busy, earliest, settings, default_base_bytes)
    if not plan.groups:
        return None
    noted = {CHECKPOINT: plan.checkpoint}
    return parse_plan(render_plan(plan.groups, (), settings, table.storage.uri, default_base_bytes, noted))


def _commits_after(table: LockedTable, earliest: str) -> Iterator[WrittenGroups]:
    """Yield the commits of rows after a time, up to the first write that is not completed: the checkpoint must not pass that."""
    writes = (Action.COMMIT, Action.DELTA_COMMIT)
    pending = min((one.requested for one in table.timeline.pending() if one.action in writes), default=None)
    for instant in table.timeline.data_instants():
        if instant.requested <= earliest or instant.action is Action.REPLACE_COMMIT:
            continue
        if pending is not None and instant.requested > pending:
            return
        commit = load_commit_metadata(table.storage, table.config, table.timeline, instant)
        groups = {FileGroupId(path, stat.file_id): None for path, stats in commit.stats.items() for stat in stats if stat.file_id}
        yield WrittenGroups(instant.requested, tuple(groups))


def check_sort_columns(columns: Collection[str], schema: pa.Schema, config: TableConfig) -> None:
    """Refuse to sort by what is no column with an order; dotted names go into structs.

    Raises:
        OptionError: names the column.
    """
    known = [*(META_COLUMNS if config.populate_meta_fields else ()), *schema.names]
    for name in columns:
        column = _column_type(name, schema)
        if name in known and column is None:
            continue
        if column is None:
            raise OptionError(f"{SORT_COLUMNS}: table {config.name} has no column '{name}'{did_you_mean(name, known)}.")
        if pa.types.is_nested(column):
            raise OptionError(f"{SORT_COLUMNS}: column '{name}' of table {config.name} is of type {column}, which has no order.")


def _column_type(name: str, schema: pa.Schema) -> pa.DataType | None:
    if name in schema.names:
        return schema.field(name).type
    head, *path = name.split(".")
    column = schema.field(head).type if head in schema.names else None
    for step in path:
        if column is None or not pa.types.is_struct(column) or column.get_field_index(step) < 0:
            return None
        column = column.field(step).type
    return column


def _check_no_buckets(view: FileSystemView, slices: Collection[FileSlice]) -> None:
    if uses_consistent_hashing(view) or names_buckets([one.group for one in slices]):
        raise UnsupportedError(
            f"table {view.storage.uri} is laid out by a bucket index: rows cannot leave the file group that their key names. Buckets of"
            " consistent hashing are resized by hoodie.clustering.plan.strategy.class=SparkConsistentBucketClusteringPlanStrategy."
        )


def _clustered_since_last_write(table: LockedTable, view: FileSystemView, settings: RewriteSettings) -> set[str]:
    """Return the partitions whose last change was a clustering that ordered rows the same way: there is nothing to gain in them."""
    unknown, clustered = set(view.partition_paths()), set[str]()
    for instant in reversed(table.timeline.data_instants()):
        if not unknown:
            break
        commit = load_commit_metadata(table.storage, table.config, table.timeline, instant)
        touched = {*commit.stats, *(commit.replaced or {})} & unknown
        unknown -= touched
        if instant.action is not Action.REPLACE_COMMIT or commit.operation != Operation.CLUSTER:
            continue
        plan = clustering_plan(table.storage, table.config, instant)
        if plan is not None and _orders_alike(plan, settings):
            clustered |= touched - set(plan.missing_partitions or ())
    return clustered


def _orders_alike(plan: ClusteringPlan, settings: RewriteSettings) -> bool:
    parameters = (plan.strategy.params if plan.strategy else None) or {}
    if parameters.get(SORT_COLUMNS, "") != ",".join(settings.sort_columns):
        return False
    return not settings.sort_columns or parameters.get(LAYOUT, Layout.LINEAR.value) == settings.layout.value
