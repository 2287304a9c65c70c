"""Procedures about files: slices, sizes, what is unreadable.

Rules: `ShowFileSystemViewProcedure`, `StatsFileSizeProcedure`, `StatsWriteAmplificationProcedure`, `ShowInvalidParquetProcedure`.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np

from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.parquet_input import has_footer
from pyhudi.spark.jvm.store_access import hadoop_base
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline

_ALL: Final = "ALL_PARTITIONS"
_EVERY_COMMIT: Final = "ALL"
_UNITS: Final = 1 << 10


def _timeline(call: ProcedureCall, table: HudiTable) -> Timeline:
    """Return the timeline as the bounds of a call make it."""
    timeline = load_full_timeline(table.storage, table.config)
    bound = call.text("max_instant")
    if bound is None:
        return timeline
    times = [instant.requested for instant in timeline.completed()]
    retained = [time for time in times if time < bound or (call.flag("include_max") and time == bound)]
    return timeline.requested_by(max(retained, default="0"))


def _slices(call: ProcedureCall, *, latest: bool) -> Iterator[FileSlice]:
    for name, what in (("include_in_flight", "files that are not committed"), ("exclude_compaction", "a view without compactions")):
        if call.flag(name):
            raise UsageError(f"CALL {call.procedure.name}: {name} => true asks for {what}, which no reader sees; leave it out.")
    table = call.open()
    view = FileSystemView(table.storage, table.config, _timeline(call, table))
    pattern = _path_regex(call)
    one = call.text("partition_path") if "partition_path" in call.arguments else None
    for path in view.partition_paths():
        if one not in (None, _ALL, path) or (pattern is not None and not pattern.fullmatch(path)):
            continue
        for group in view.groups(path):
            yield from group.slices[:1] if latest else group.slices


def _path_regex(call: ProcedureCall) -> re.Pattern[str] | None:
    """Return what the paths of partitions have to match; None for all of them."""
    text = call.text("path_regex") or _ALL
    try:
        return None if text == _ALL else re.compile(text)
    except re.error as error:
        raise UsageError(
            f"CALL {call.procedure.name}: path_regex => '{text}' is no regular expression ({error}): '.*' stands for all partitions, and"
            " so does leaving it out."
        ) from None


def _common(file_slice: FileSlice, uri: str) -> list[object]:
    base = file_slice.base
    return [
        file_slice.group.partition_path,
        file_slice.group.file_id,
        file_slice.base_instant,
        "" if base is None else f"{uri}/{base.path}",
        -1 if base is None else base.size,
        len(file_slice.logs),
        sum(log.size for log in file_slice.logs),
    ]


def _show_all(call: ProcedureCall) -> Iterator[Row]:
    uri = hadoop_base(call.open().storage)
    rows = (
        [*_common(file_slice, uri), str([f"{uri}/{log.path}" for log in file_slice.logs])] for file_slice in _slices(call, latest=False)
    )
    return itertools.islice(rows, call.number("limit"))


def _show_latest(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    pending = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config)).pending_compaction
    if pending and not call.flag("merge"):
        raise UsageError(
            f"CALL {call.procedure.name}: merge => false splits file slices at planned compactions, as no reader does; leave it out."
        )
    rows, uri = [], hadoop_base(table.storage)
    for file_slice in itertools.islice(_slices(call, latest=True), call.number("limit")):
        planned = pending.get(file_slice.group)
        named = set() if planned is None else {name.rpartition("/")[2] for name in planned.operation.delta_files or ()}
        scheduled = [log for log in file_slice.logs if str(log.name) in named]
        others = [log for log in file_slice.logs if str(log.name) not in named]
        sizes = [sum(log.size for log in logs) for logs in (scheduled, others)]
        base = file_slice.base.size if file_slice.base is not None else 0
        ratios = [size / base if base else -1.0 for size in sizes]
        names = [str([f"{uri}/{log.path}" for log in logs]) for logs in (scheduled, others)]
        rows.append([*_common(file_slice, uri), *sizes, *ratios, *names])
    return iter(rows)


def _file_sizes(call: ProcedureCall) -> Iterator[Row]:
    table, prefix = call.open(), (call.text("partition_path") or "").rstrip("*").rstrip("/")
    by_commit: dict[str, list[int]] = {}
    view = FileSystemView(table.storage, table.config, load_full_timeline(table.storage, table.config))
    for path in view.partition_paths():
        if path.startswith(prefix):
            for group in view.groups(path):
                for file_slice in group.slices:
                    for file in (file_slice.base, *file_slice.logs):
                        if file is not None:
                            by_commit.setdefault(file.name.instant, []).append(file.size)
    rows = [_sizes(commit, sizes) for commit, sizes in sorted(by_commit.items(), reverse=True)][: call.number("limit")]
    everything = [size for sizes in by_commit.values() for size in sizes]
    return iter([*rows, _sizes(_EVERY_COMMIT, everything)] if everything else [])


def _sizes(commit: str, sizes: Sequence[int]) -> Row:
    quantiles = [float(np.quantile(sizes, share)) for share in (0.1, 0.5, 0.95)]
    spread = statistics.stdev(sizes) if len(sizes) > 1 else 0.0
    tenth, middle, most = quantiles
    return commit, min(sizes), tenth, middle, statistics.fmean(sizes), most, max(sizes), len(sizes), spread


def _amplification(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    timeline = load_timeline(table.storage, table.config)
    rows, upserted, written = [], 0, 0
    for instant in timeline.data_instants():
        stats = tuple(read_commit(table.storage, table.config, instant).all_stats())
        updates, writes = sum(stat.num_update_writes for stat in stats), sum(stat.num_writes for stat in stats)
        rows.append((instant.requested, updates, writes, _factor(updates, writes)))
        upserted, written = upserted + updates, written + writes
    newest = rows[::-1][: call.number("limit")]
    return iter([*newest, ("Total", upserted, written, _factor(upserted, written))])


def _factor(updates: int, writes: int) -> str:
    return f"{writes / updates:.2f}" if updates else "0"


def _invalid_parquet(call: ProcedureCall) -> Iterator[Row]:
    storage = open_storage(str(call.text("path")))
    partitions = [part.strip() for part in (call.text("partitions") or "").split(",") if part.strip()]
    instants = {part.strip() for part in (call.text("instants") or "").split(",") if part.strip()}
    if call.flag("needDelete"):
        raise UsageError(
            f"CALL {call.procedure.name}: needDelete => true deletes files that commits name, and with them rows; look at those that are"
            " listed, and roll their commits back."
        )
    paths = list(_parquet_files(storage, "", partitions, instants))
    readable = call.threads("parallelism").run(partial(has_footer, storage), paths)
    matches = (path for path, is_readable in zip(paths, readable, strict=True) if not is_readable)
    return ((f"{hadoop_base(storage)}/{path}",) for path in itertools.islice(matches, call.number("limit")))


def _parquet_files(storage: Storage, folder: str, partitions: Sequence[str], instants: set[str]) -> Iterator[str]:
    for status in storage.list(folder):
        if status.is_dir:
            if status.name != ".hoodie":
                yield from _parquet_files(storage, status.path, partitions, instants)
            continue
        name = parse_base_file_name(status.name)
        if name is None or (partitions and folder not in partitions) or (instants and name.instant not in instants):
            continue
        yield status.path


def _path_detail(call: ProcedureCall) -> Iterator[Row]:
    storage = open_storage(str(call.text("path")))
    folders = [status.path for status in storage.list("") if status.is_dir] if call.flag("is_sub") else [""]
    rows = [_measure_files(storage, folder) for folder in folders]
    ordered = sorted(rows, key=lambda row: row[2], reverse=True) if call.flag("sort") else sorted(rows, key=lambda row: row[4])
    return iter(ordered[: call.number("limit")])


def _measure_files(storage: Storage, folder: str) -> tuple[int, int, int, str, str, int, int, int]:
    folders, files, size, waiting = 1, 0, 0, [folder]
    while waiting:
        for status in storage.list(waiting.pop()):
            if status.is_dir:
                folders += 1
                waiting.append(status.path)
            else:
                files, size = files + 1, size + status.size
    uri = f"{hadoop_base(storage)}/{folder}".rstrip("/")
    return folders, files, size, _with_unit(size), uri, size, -1, -1


def _with_unit(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < _UNITS:
            return f"{size:.2f}{unit}"
        size /= _UNITS
    return f"{size:.2f}TB"


_VIEW: Final = (
    Parameter("table"),
    Parameter("path"),
    Parameter("max_instant"),
    Parameter("include_max", "boolean", default=False),
    Parameter("include_in_flight", "boolean", default=False),
    Parameter("exclude_compaction", "boolean", default=False),
    Parameter("limit", "int", 10),
    Parameter("path_regex", "string", _ALL),
    Parameter("filter"),
)
_SLICE: Final = (
    Column("partition"),
    Column("file_id"),
    Column("base_instant"),
    Column("data_file"),
    Column("data_file_size", "bigint"),
    Column("num_delta_files", "bigint"),
    Column("total_delta_file_size", "bigint"),
)
_TABLE: Final = Parameter("table", default=REQUIRED)
_LIMIT: Final = Parameter("limit", "int", 10)

PROCEDURES: Final = (
    Procedure("show_fsview_all", "All file slices.", _VIEW, (*_SLICE, Column("delta_files")), _show_all),
    Procedure(
        "show_fsview_latest",
        "The latest file slice of each file group.",
        (*_VIEW, Parameter("partition_path", "string", _ALL), Parameter("merge", "boolean", default=True)),
        (
            *_SLICE,
            Column("delta_size_compaction_scheduled", "bigint"),
            Column("delta_size_compaction_unscheduled", "bigint"),
            Column("delta_to_base_radio_compaction_scheduled", "double"),
            Column("delta_to_base_radio_compaction_unscheduled", "double"),
            Column("delta_files_compaction_scheduled"),
            Column("delta_files_compaction_unscheduled"),
        ),
        _show_latest,
    ),
    Procedure(
        "stats_file_sizes",
        "Sizes of the files of each commit.",
        (_TABLE, Parameter("partition_path"), _LIMIT),
        (
            Column("commit_time"),
            Column("min", "bigint"),
            *(Column(name, "double") for name in ("10th", "50th", "avg", "95th")),
            Column("max", "bigint"),
            Column("num_files", "int"),
            Column("std_dev", "double"),
        ),
        _file_sizes,
    ),
    Procedure(
        "stats_wa",
        "Records written for each record updated.",
        (_TABLE, _LIMIT),
        (
            Column("commit_time"),
            Column("total_upserted", "bigint"),
            Column("total_written", "bigint"),
            Column("write_amplification_factor"),
        ),
        _amplification,
    ),
    Procedure(
        "show_invalid_parquet",
        "The base files that cannot be read.",
        (
            Parameter("path", default=REQUIRED),
            Parameter("parallelism", "int", 100),
            Parameter("limit", "int", 100),
            Parameter("needDelete", "boolean", default=False),
            Parameter("partitions"),
            Parameter("instants"),
            Parameter("filter"),
        ),
        (Column("path"),),
        _invalid_parquet,
    ),
    Procedure(
        "show_fs_path_detail",
        "How many folders, files and bytes a path holds.",
        (
            Parameter("path", default=REQUIRED),
            Parameter("is_sub", "boolean", default=False),
            Parameter("sort", "boolean", default=True),
            Parameter("limit", "int", 100),
            Parameter("filter"),
        ),
        (
            Column("path_num", "bigint"),
            Column("file_num", "bigint"),
            Column("storage_size", "bigint"),
            Column("storage_size(unit)"),
            Column("storage_path"),
            Column("space_consumed", "bigint"),
            Column("quota", "bigint"),
            Column("space_quota", "bigint"),
        ),
        _path_detail,
    ),
)
