"""What the options say about clustering that rewrites file groups, in one value. Rules: `HoodieClusteringConfig` of Apache Hudi 1.2."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.kernels.arrays.space_curves import Layout
from pyhudi.read.snapshot.query_type import merge_size
from pyhudi.service.clustering.partition_filter import FilterMode, PartitionFilter
from pyhudi.spec.options import Options, warn_without_effect

PLAN_CLASS: Final = "hoodie.clustering.plan.strategy.class"
_RUN_CLASS: Final = "hoodie.clustering.execution.strategy.class"
_FILTER: Final = "hoodie.clustering.plan.partition.filter.mode"
_PREFIX: Final = "hoodie.clustering.plan.strategy."
SORT_COLUMNS: Final = f"{_PREFIX}sort.columns"
LAYOUT: Final = "hoodie.layout.optimize.strategy"
EARLIEST_COMMIT: Final = f"{_PREFIX}earliest.commit.to.cluster"
_SMALL_FILES: Final = f"{_PREFIX}small.file.limit"
#: Rows that are ordered at once, when no option says so: more of them mean fewer passes over the files.
_ORDER_BYTES: Final = 1 << 30
_PACKAGE: Final = "org.apache.hudi.client.clustering.run.strategy."
SINGLE_FILE_SORT: Final = f"{_PACKAGE}SparkSingleFileSortExecutionStrategy"
STREAM_COPY: Final = f"{_PACKAGE}SparkStreamCopyClusteringExecutionStrategy"
_MIXES_SCHEMAS: Final = f"{_PREFIX}binary.copy.schema.evolution.enable"
#: The classes by which Apache Hudi rewrites file groups; the first one is in pyhudi's plans unless another is asked for.
REWRITES: Final = (
    f"{_PACKAGE}SparkSortAndSizeExecutionStrategy",
    SINGLE_FILE_SORT,
    f"{_PACKAGE}SingleSparkJobExecutionStrategy",
    STREAM_COPY,
    f"{_PACKAGE}JavaSortAndSizeExecutionStrategy",
)
#: The classes that plan, without the engine.
_CLASSES: Final = {
    "SizeBased": "SizeBasedClusteringPlanStrategy",
    "SingleFileSort": "SingleFileSortPlanStrategy",
    "StreamCopy": "StreamCopyClusteringPlanStrategy",
    "RecentDays": "RecentDaysClusteringPlanStrategy",
    "SelectedPartitions": "SelectedPartitionsClusteringPlanStrategy",
    "CommitBased": "CommitBasedClusteringPlanStrategy",
}
#: Older classes, which are named for a filter of partitions.
_FILTERS: Final = {"RecentDays": FilterMode.RECENT_DAYS, "SelectedPartitions": FilterMode.SELECTED_PARTITIONS}


@dataclass(frozen=True, slots=True)
class RewriteSettings:
    """Which file groups to rewrite, and how.

    Base files below `small_bytes` are put into groups of up to `group_bytes`, `most_groups` in a plan, to become files of `target_bytes`;
    with `single_groups` a group may hold one file. `single_files` rewrites each file for itself. `run_class` is in the plan.
    `one_schema` says that all files of a group have the same columns and types, as a stream copy needs it.
    `after_commit` is the requested time after which commits are looked at, None when they do not matter.
    """

    single_files: bool
    run_class: str
    small_bytes: int
    target_bytes: int
    group_bytes: int
    most_groups: int
    single_groups: bool
    oldest_first: bool
    sort_columns: tuple[str, ...]
    layout: Layout
    partitions: PartitionFilter
    only_changed: bool
    one_schema: bool
    order_bytes: int
    after_commit: str | None = None


def rewrite_settings(options: Options) -> RewriteSettings:
    """Return what the options decide.

    Raises:
        UnsupportedError: a class is not one of those that rewrite file groups.
        OptionError: a value contradicts another, or is no regular expression.
    """
    plan = _plan_name(options)
    columns = tuple(name.strip() for name in (options.get(SORT_COLUMNS) or "").split(",") if name.strip())
    run_class = _run_class(options, plan)
    if plan == "SingleFileSort" and not columns:
        raise OptionError(f"{PLAN_CLASS}: {_CLASSES[plan]} sorts the rows of each file, and {SORT_COLUMNS} names no columns.")
    if run_class == STREAM_COPY and columns:
        named = f"{PLAN_CLASS}: {_CLASSES[plan]}" if plan == "StreamCopy" else f"{_RUN_CLASS}: {_short_name(STREAM_COPY)}"
        raise OptionError(f"{named} joins files as they are; leave out {SORT_COLUMNS}.")
    return RewriteSettings(
        single_files=plan == "SingleFileSort",
        run_class=run_class,
        small_bytes=_small_bytes(options, plan),
        target_bytes=options.integer(f"{_PREFIX}target.file.max.bytes"),
        group_bytes=options.integer(f"{_PREFIX}max.bytes.per.group"),
        most_groups=options.integer(f"{_PREFIX}max.num.groups"),
        single_groups=bool(columns) or options.flag(f"{_PREFIX}single.group.clustering.enabled"),
        oldest_first=options.text(f"{_PREFIX}file.slices.sort.by").upper() == "INSTANT_TIME",
        sort_columns=columns,
        layout=Layout.parse(options.text(LAYOUT)),
        partitions=_partition_filter(options, _FILTERS.get(plan)),
        one_schema=plan == "StreamCopy" and not options.flag(_MIXES_SCHEMAS),
        only_changed=options.flag("hoodie.table.services.incremental.enabled"),
        order_bytes=merge_size(options, default=_ORDER_BYTES),
        after_commit=_after_commit(options, plan),
    )


def plan_class_name(options: Options) -> str | None:
    """Return the short name of the class that plans, None when options name none."""
    return _short_name(options.get(PLAN_CLASS))


def run_class_name(options: Options) -> str | None:
    """Return the short name of the class that runs plans, None when options name none."""
    return _short_name(options.get(_RUN_CLASS))


def _short_name(given: str | None) -> str | None:
    return None if given is None else given.strip().rpartition(".")[2]


def _plan_name(options: Options) -> str:
    given = plan_class_name(options) or _CLASSES["SizeBased"]
    for engine in ("Spark", "Java", "Flink"):
        given = given.removeprefix(engine)
    for name, known in _CLASSES.items():
        if given == known:
            return name
    spark = [f"Spark{known}" for name, known in _CLASSES.items() if name != "CommitBased"]
    served = ", ".join((*spark, _CLASSES["CommitBased"], "SparkConsistentBucketClusteringPlanStrategy"))
    raise UnsupportedError(
        f"{PLAN_CLASS}: '{options.get(PLAN_CLASS)}' is not served, pyhudi loads no classes by name; served are {served}."
    )


def _small_bytes(options: Options, plan: str) -> int:
    """Return the limit of small files; the commit-based plan has none of its own, as Apache Hudi's."""
    if plan == "CommitBased" and options.get(_SMALL_FILES) is None:
        return sys.maxsize
    return options.integer(_SMALL_FILES)


def _after_commit(options: Options, plan: str) -> str | None:
    given = options.get(EARLIEST_COMMIT)
    if plan != "CommitBased":
        return None
    if given is None or not given.strip().isdecimal():
        reason = "is missing" if given is None else f"is '{given}', which is no instant time"
        raise OptionError(
            f"{PLAN_CLASS}: {_CLASSES[plan]} clusters what commits wrote after {EARLIEST_COMMIT}, which {reason}. Give the requested time"
            " of a commit, as table.history() shows it, or 0 for all commits of the active timeline."
        )
    return given.strip()


def _run_class(options: Options, plan: str) -> str:
    usual = {"SingleFileSort": SINGLE_FILE_SORT, "StreamCopy": STREAM_COPY}.get(plan, REWRITES[0])
    given = run_class_name(options)
    if given is None:
        return usual
    for name in REWRITES:
        if _short_name(name) == given:
            return name
    served = ", ".join(name.rpartition(".")[2] for name in REWRITES)
    raise UnsupportedError(
        f"{_RUN_CLASS}: '{options.get(_RUN_CLASS)}' is not served, pyhudi loads no classes by name; served are {served}."
    )


def _partition_filter(options: Options, mode: FilterMode | None) -> PartitionFilter:
    text, selected = options.get(f"{_PREFIX}partition.regex.pattern"), options.get(f"{_PREFIX}partition.selected")
    try:
        pattern = None if not text else re.compile(text)
    except re.error as error:
        raise OptionError(f"{_PREFIX}partition.regex.pattern: '{text}' is no regular expression: {error}") from None
    chosen = mode or FilterMode(options.text(_FILTER).upper())
    begin, end = f"{_PREFIX}cluster.begin.partition", f"{_PREFIX}cluster.end.partition"
    first, last = options.get(begin), options.get(end)
    if first and last and first > last:
        raise OptionError(f"{begin}={first} comes after {end}={last}: no partition is between them.")
    if (first or last) and chosen is not FilterMode.SELECTED_PARTITIONS:
        warn_without_effect(begin if first else end, f"needs {_FILTER}={FilterMode.SELECTED_PARTITIONS}")
    return PartitionFilter(
        mode=chosen,
        selected=None if not selected else tuple(path.strip() for path in selected.split(",")),
        pattern=pattern,
        lookback=options.integer(f"{_PREFIX}daybased.lookback.partitions"),
        skipped=options.integer(f"{_PREFIX}daybased.skipfromlatest.partitions"),
        first=first,
        last=last,
    )
