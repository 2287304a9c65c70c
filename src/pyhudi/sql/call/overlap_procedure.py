"""How far the bounds of a column overlap from file to file: how many files a query for one value has to read.

Rules: `ShowColumnStatsOverlapProcedure`. Between the bounds of two files the number of files changes at bounds only, so those are the
values that are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.spark.reader.metadata_records import metadata_of
from pyhudi.sql.call.procedure import Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.timeline.load_timeline import load_timeline

_PERCENTILES: Final = (50, 75, 95, 99)


def overlaps(bounds: Sequence[tuple[Any, Any]]) -> list[int]:
    """Return how many ranges cover each value that begins or ends one, in ascending order of the numbers.

    Example:
        >>> overlaps([(1, 5), (3, 7), (7, 8)])
        [1, 1, 2, 2, 2]
    """
    begins = 0
    points = sorted([(least, begins) for least, _ in bounds] + [(greatest, 1) for _, greatest in bounds])
    counts: dict[Any, int] = {}
    covering = 0
    for value, end in points:
        if end == begins:
            covering += 1
            counts[value] = covering
        else:
            counts.setdefault(value, covering)
            covering -= 1
    return sorted(counts.values())


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _overlap(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    metadata = metadata_of(table, f"CALL {call.procedure.name}")
    columns, prefixes = _names(call.text("targetColumns")) or list(table.schema.names), _names(call.text("partition")) or [""]
    view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
    rows = []
    for path in metadata.partition_paths():
        if any(path.startswith(prefix) for prefix in prefixes):
            files = {str(base.name) for base in view.latest_base_files(path)}
            slices = len(view.latest_slices(path))
            by_column: dict[str, list[ColumnStats]] = defaultdict(list)
            for stats in metadata.column_stats(columns, path):
                if stats.file_name in files and stats.minimum is not None and stats.maximum is not None:
                    by_column[stats.column].append(stats)
            rows += [_row(path, column, slices, of_files) for column, of_files in by_column.items()]
    return iter(sorted(rows, key=lambda row: (row[1], row[2])))


def _row(path: str, column: str, slices: int, stats: Sequence[ColumnStats]) -> tuple[Any, ...]:
    counts = overlaps([(one.minimum, one.maximum) for one in stats])
    percentiles = (counts[int(percent / 100 * (len(counts) - 1))] for percent in _PERCENTILES)
    return path, column, sum(counts) / len(counts), counts[-1], slices, *percentiles, len(counts)


PROCEDURES: Final = (
    Procedure(
        "show_metadata_column_stats_overlap",
        "How many files hold each value of a column.",
        (Parameter("table"), Parameter("path"), Parameter("partition"), Parameter("targetColumns"), Parameter("filter")),
        (
            Column("Partition path"),
            Column("Field name"),
            Column("Average overlap", "double"),
            *(Column(name, "int") for name in ("Maximum file overlap", "Total file number")),
            *(Column(f"{percent}% overlap", "int") for percent in _PERCENTILES),
            Column("Total value number", "int"),
        ),
        _overlap,
    ),
)
