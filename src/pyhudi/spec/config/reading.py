"""Keys of reading.

Rules: `DataSourceReadOptions`.
"""

from __future__ import annotations

from pyhudi.spec.config.key import ConfigKey, harmless, refused, served

_LATER = "comes with a later release"

READING: tuple[ConfigKey, ...] = (
    served(
        "hoodie.datasource.query.type",
        "What to read.",
        default="snapshot",
        aliases=("hoodie.datasource.view.type",),
        choices=("snapshot", "read_optimized", "incremental"),
    ),
    served("as.of.instant", "Read the table as it was at this time (instant, date or date and time)."),
    served(
        "pyhudi.merge.folder",
        "URI of a folder that driver and executors of a Spark cluster reach: rows merged from log files stand there while a session reads"
        " them. On one machine Spark's own temporary folder serves.",
    ),
    *harmless(
        "tunes how Hudi lists and opens files; pyhudi always lists the partitions that pass the filter, and skips no committed row",
        """
        hoodie.file.index.enable hoodie.enable.data.skipping hoodie.datasource.read.file.index.listing.mode
        hoodie.datasource.read.file.index.* hoodie.file.group.reader.enabled hoodie.merge.use.record.positions
        hoodie.hfile.* hoodie.datasource.read.extract.partition.values.from.path hoodie.memory.dfs.buffer.max.size
        """,
    ),
    *refused(
        f"incremental reading {_LATER}",
        """
        hoodie.datasource.read.begin.instanttime hoodie.datasource.read.end.instanttime
        hoodie.datasource.query.incremental.* hoodie.datasource.read.incr.* hoodie.datasource.read.streaming.*
        hoodie.datasource.read.schema.use.end.instanttime=false
        """,
    ),
    *refused(
        f"unmerged reading of merge-on-read tables {_LATER}",
        "hoodie.datasource.merge.type=payload_combine hoodie.realtime.merge.skip=false",
    ),
    *refused("one table is read by its own path", "hoodie.datasource.read.paths"),
    *refused(f"large objects out of line: that {_LATER}", "hoodie.read.blob.* hoodie.blob.*"),
)
