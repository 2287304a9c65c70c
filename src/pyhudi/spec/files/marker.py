"""Markers: empty files that name a data file before it is written, so that what a failed write left behind can be
found.

Rules: Hudi technical specification, "Markers"; `MarkerUtils`, `DirectWriteMarkers`. A marker of `p/f.parquet` at
instant `t` is `.hoodie/.temp/t/p/f.parquet.marker.CREATE`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

TEMP_FOLDER = ".hoodie/.temp"
#: Names the kind of markers in its folder; absent for one file per marker.
TYPE_FILE = "MARKERS.type"
#: Content of the type file when markers are lines of the files `MARKERS0`, `MARKERS1`, ...
TIMELINE_SERVER_BASED = "TIMELINE_SERVER_BASED"
BATCH_FILE = re.compile(r"MARKERS\d+")

_MARKER = re.compile(r"(?P<path>.+)\.marker\.(?P<type>CREATE|MERGE|APPEND)", re.DOTALL)


class MarkerType(enum.StrEnum):
    """What the writer was about to do."""

    CREATE = "CREATE"
    MERGE = "MERGE"
    APPEND = "APPEND"


@dataclass(frozen=True, slots=True, order=True)
class Marker:
    """One marker; `data_path` is relative to the table's base."""

    data_path: str
    type: MarkerType


def marker_folder(instant: str) -> str:
    """Return the folder of one instant's markers, relative to the table's base."""
    return f"{TEMP_FOLDER}/{instant}"


def marker_path(instant: str, data_path: str, marker_type: MarkerType) -> str:
    """Return the path of a marker file, relative to the table's base.

    Example:
        >>> marker_path("20260101000000000", "p/f.parquet", MarkerType.CREATE)
        '.hoodie/.temp/20260101000000000/p/f.parquet.marker.CREATE'
    """
    return f"{marker_folder(instant)}/{marker_line(data_path, marker_type)}"


def marker_line(data_path: str, marker_type: MarkerType) -> str:
    """Return what names a marker within the folder of its instant: a path, or a line of a batch file.

    Example:
        >>> marker_line("p/f.parquet", MarkerType.CREATE)
        'p/f.parquet.marker.CREATE'
    """
    return f"{data_path}.marker.{marker_type}"


def parse_marker(path: str) -> Marker | None:
    """Return the marker that a path, or a line of a batch file, names; None when it is none.

    Paths may begin with the marker folder or be relative to it.
    """
    text = path
    if path.startswith(f"{TEMP_FOLDER}/"):
        text = path.removeprefix(f"{TEMP_FOLDER}/").partition("/")[2]
    match = _MARKER.fullmatch(text)
    return Marker(match["path"], MarkerType(match["type"])) if match else None
