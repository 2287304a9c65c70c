"""Prints what a program does, step by step: the statement, what it answered, how long it took. Plain text, no
colours.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import pyhudi

WIDTH = 110
_SETTINGS: dict[str, bool | float | int | str | None] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}
#: Columns of a table's history that tell its story.
HISTORY = ("operation", "requested", "completed", "inserted", "updated", "deleted", "files_written", "bytes_written")
_INDENT = "  "
_METAFILE = ".hoodie_partition_metadata"


def session(name: str, folder: Path) -> SparkSession:
    """Start Spark in this process, able to speak Hudi; its managed tables are in `folder`."""
    builder = SparkSession.builder.appName(name).master("local[*]").config(map=_SETTINGS)
    started: SparkSession = pyhudi.enable(builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))).getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'=' * len(text)}")


def say(text: str) -> None:
    """Print a paragraph."""
    print("\n" + textwrap.fill(" ".join(text.split()), WIDTH))


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long a block took."""
    began = time.perf_counter()
    yield
    print(f"{_INDENT}[{what}: {time.perf_counter() - began:.2f} s]")


def sql(spark: SparkSession, text: str, *, show: int = 20, names: Mapping[str, str] | None = None) -> list[Mapping[str, object]]:
    """Print a statement, run it, print its answer and its time; return the answer's rows.

    Args:
        spark: A session that speaks Hudi.
        text: The statement.
        show: How many rows are printed at most.
        names: What to print in the places of strings that differ from run to run; then neither times nor the commit's instant are printed.
    """
    statement = textwrap.dedent(text).strip()
    statement_text = statement
    for text_of_run, name in (names or {}).items():
        statement_text = statement_text.replace(text_of_run, name)
    print("\n" + textwrap.indent(statement_text, _INDENT + "| "))
    began = time.perf_counter()
    frame: DataFrame = spark.sql(statement)
    rows: list[Mapping[str, object]] = [row.asDict() for row in frame.collect()]
    seconds = time.perf_counter() - began
    if rows:
        columns = [name for name in frame.columns if not _is_zero_count(name, rows) and not (names and name == "instant")]
        table(columns, [[row[name] for name in columns] for row in rows[:show]])
    more = f", the first {show} of {len(rows):,} rows shown" if len(rows) > show else ""
    if not names:
        print(f"{_INDENT}[{seconds:.2f} s{more}]")
    return rows


def _is_zero_count(name: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether a column is a count of a writing statement that counted nothing."""
    return name.startswith("num_") and name != "num_affected_rows" and all(row[name] == 0 for row in rows)


def arrow(rows: pa.Table, names: Sequence[str]) -> None:
    """Print some columns of an Arrow table."""
    table(names, [[row[name] for name in names] for row in rows.to_pylist()])


def table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below their names; numbers stand to the right."""
    cell_rows = [[_text(value) for value in row] for row in rows]
    right = [all(_is_number(row[i]) for row in cell_rows) for i in range(len(names))]
    widths = [max(len(name), *(len(row[i]) for row in cell_rows), 0) for i, name in enumerate(names)]
    print()
    for line in [list(names), ["-" * width for width in widths], *cell_rows]:
        cells = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True))
        print((_INDENT + "  ".join(cells)).rstrip())


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def _is_number(text: str) -> bool:
    return text == "" or text.lstrip("-").replace(",", "").replace(".", "", 1).isdigit()


def tree(root: Path, *, at_most: int = 40) -> None:
    """Print the files below a folder with their sizes: data files, the metafiles of partitions, the timeline and the metadata table."""
    print(f"\n{_INDENT}{root.name}/")
    files = (path for path in root.rglob("*") if path.is_file() and not path.name.endswith(".crc"))
    paths = sorted(files, key=lambda path: (path.relative_to(root).parts[0] == ".hoodie", path.name == _METAFILE, path))
    for path in paths[:at_most]:
        print(f"{_INDENT}  {path.relative_to(root)!s:<95} {path.stat().st_size:>12,} B")
    if len(paths) > at_most:
        print(f"{_INDENT}  ... and {len(paths) - at_most:,} more")
