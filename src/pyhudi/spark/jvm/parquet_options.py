"""How Spark reads the Parquet files of a table, whatever the session's settings say about other files.

Options of a relation take precedence over settings (`FileSourceOptions`, `ParquetOptions`, `ParquetFileFormat`). Without them a missing or
damaged file would leave out rows under `spark.sql.files.ignoreMissingFiles` and `spark.sql.files.ignoreCorruptFiles`, and old dates and
times would be read as ones of the Julian calendar under `spark.sql.parquet.datetimeRebaseModeInRead=LEGACY`: files of Hudi tables do not
name a release of Spark, by which it would know better.
"""

from __future__ import annotations

from typing import Final

#: Spark's readers, the vectorised one too, take pages from parquet-java, which compares them with their CRCs where this is set.
_VERIFY: Final = "parquet.page.verify-checksum.enabled"
_ALL_ROWS: Final = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
}


def parquet_options(*, verify: bool) -> dict[str, str]:
    """Return the options of a relation over a table's files.

    Args:
        verify: compare pages with their CRCs.
    """
    return {_VERIFY: str(verify).lower(), **_ALL_ROWS}
