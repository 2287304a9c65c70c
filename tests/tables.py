"""The fixture tables, by name: where they are and how they are unpacked. `fixtures/hudi/README.md` says what each holds."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
_HUDI = FIXTURES / "hudi"

#: Names such as `cow/v6_empty`, `mor/avro/v9_txns_simple_meta`, `apache_hudi/all_types_v9`.
NAMES = sorted(
    [str(path.relative_to(group).with_suffix("")) for group in (_HUDI / "sample", _HUDI / "trips") for path in group.rglob("*.zip")]
    + [f"apache_hudi/{path.stem}" for path in (FIXTURES / "apache_hudi").glob("*.zip")]
)
#: Their base files are Lance files.
LANCE = [name for name in NAMES if "lance" in name]
#: At least one of their latest slices has log files.
WITH_LOGS = [name for name in NAMES if name.startswith("apache_hudi/merge_on_read")] + [
    "mor/avro/v6_trips_8i1u",
    "mor/avro/v6_trips_8i3d",
    "mor/avro/v8_trips_8i3u1d",
    "mor/avro/v9_timebasedkeygen_nonhivestyle",
    "mor/parquet/v6_complexkeygen_hivestyle",
    "mor/parquet/v6_nonpartitioned",
    "mor/parquet/v6_nonpartitioned_rollback",
    "mor/parquet/v6_simplekeygen_nonhivestyle",
]
#: All rows of these are in base files.
BASE_ONLY = [name for name in NAMES if name not in LANCE and name not in WITH_LOGS]


def archive_of(name: str) -> Path:
    """The zip of a table."""
    groups = (FIXTURES, _HUDI / "sample", _HUDI / "trips")
    return next(path for group in groups if (path := group / f"{name}.zip").exists())


def unpack(name: str, into: Path, *, times: bool = False) -> Path:
    """Unpack a table and return its base path.

    With `times` its files have the times that they had, which are completion times in timeline layout 1.
    """
    target = into / name
    with zipfile.ZipFile(archive_of(name)) as archive:
        archive.extractall(target)
        for entry in archive.infolist() if times else ():
            modified = datetime(*entry.date_time, tzinfo=UTC).timestamp()
            os.utime(target / entry.filename, (modified, modified))
    return next(path.parent for path in target.glob("*/.hoodie"))
